#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/remote-memory/sizes.hpp"

// How two-sided messages between rank 0 and rank 1 are measured, in the same way for Kumiki, MPI and UCX.

namespace kumiki::bench {

/// Two ranks that send messages to each other. Each call waits until it is complete on this side; *_many start all
/// their messages, of one word each, before they wait.
template <class T>
concept Talk = requires(T& talk, const void* data, void* into, std::size_t bytes, std::span<const std::uint64_t> words,
                        std::span<std::uint64_t> room) {
    { talk.rank() } -> std::same_as<int>;
    talk.send(data, bytes);
    talk.receive(into, bytes);
    talk.send_many(words);
    talk.receive_many(room);
    talk.settle(); // collective: afterwards nothing is under way that still needs this rank
};

/// 8 bytes in each direction.
template <Talk T>
auto ping_pong(T& talk) {
    return [&talk, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        bool right = true;
        for (std::uint64_t i = 0; i < count; ++i) {
            ++turn;
            std::uint64_t heard = 0;
            if (talk.rank() == 0) talk.send(&turn, sizeof turn);
            talk.receive(&heard, sizeof heard);
            if (talk.rank() == 1) talk.send(&turn, sizeof turn);
            right = right && heard == turn;
        }
        return right;
    };
}

inline constexpr std::size_t messages_of_a_window = 256;

/// Windows of messages of 8 bytes; one message answers each window.
template <Talk T>
auto windows(T& talk) {
    return [&talk, first = std::uint64_t{0},
            words = std::vector<std::uint64_t>(messages_of_a_window)](std::uint64_t count) mutable {
        bool right = true;
        for (std::uint64_t i = 0; i < count; ++i, first += words.size()) {
            std::uint64_t answer = first;
            if (talk.rank() == 0) {
                for (std::size_t k = 0; k < words.size(); ++k) words[k] = first + k;
                talk.send_many(words);
                talk.receive(&answer, sizeof answer);
            } else {
                talk.receive_many(words);
                talk.send(&answer, sizeof answer);
                for (std::size_t k = 0; k < words.size(); ++k) right = right && words[k] == first + k;
            }
        }
        return right;
    };
}

/// Messages one after another, then one that answers them.
template <Talk T>
Mover message_mover(T& talk, std::span<std::byte> own) {
    const auto move = [&talk, own](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        for (std::uint64_t i = 0; i < count; ++i)
            if (talk.rank() == 0) talk.send(own.data(), bytes);
            else talk.receive(own.data(), bytes);
        if (talk.rank() == 0) talk.receive(&batch, sizeof batch);
        else talk.send(&batch, sizeof batch);
        talk.settle();
    };
    if (talk.rank() == 0) return {own, {}, move};
    return {{}, own, move};
}

/// Messages one after another; each is answered by one of 4 bytes before the next is sent.
template <Talk T>
Mover round_trips(T& talk, std::span<std::byte> own) {
    const auto move = [&talk, own](std::size_t bytes, std::uint64_t count, std::uint64_t) {
        std::array<std::byte, reply_bytes> reply{};
        for (std::uint64_t i = 0; i < count; ++i) {
            if (talk.rank() == 0) {
                talk.send(own.data(), bytes);
                talk.receive(reply.data(), reply.size());
            } else {
                talk.receive(own.data(), bytes);
                talk.send(reply.data(), reply.size());
            }
        }
        talk.settle();
    };
    if (talk.rank() == 0) return {own, {}, move};
    return {{}, own, move};
}

/// Seconds until a long message to a computing rank is complete at its sender (Maestro paper, F24). The receive is
/// posted before that rank computes, or afterwards.
template <Talk T>
double send_to_computing(T& talk, std::span<std::byte> data, bool posted) {
    constexpr double computation = 0.02; // s
    std::byte ready{};
    if (talk.rank() == 0) {
        talk.receive(&ready, 1);
        const auto start = Clock::now();
        talk.send(data.data(), data.size());
        return seconds_since(start);
    }
    std::optional<decltype(talk.start_receive(data))> coming;
    if (posted) coming.emplace(talk.start_receive(data));
    talk.send(&ready, 1);
    for (const auto start = Clock::now(); seconds_since(start) < computation;) {}
    if (!posted) coming.emplace(talk.start_receive(data));
    talk.finish(*coming);
    return 0;
}

/// The means on which messages are built, measured with the same round trips: its name, and how it moves data.
struct RawLink {
    std::string implementation;
    Mover round_trips;
};

/// The rows of one implementation: those of small messages, and those of each size for each named kind of memory.
/// `fabric` is the path of the messages: shm or network.
template <Talk T, World W>
class MessageRows {
public:
    MessageRows(W& world, T& talk, std::string implementation, const RemoteMemoryOptions& options)
        : world_(world), talk_(talk), implementation_(std::move(implementation)), options_(options) {}

    int small() {
        Contestant rate = rounds(world_, placed(latency_row("message.rate", implementation_)), windows(talk_), 1);
        rate.row.unit = "M/s";
        rate.row.better = measure::Better::higher;
        rate.take = [window = std::move(rate.take)] {
            const Sample sample = window();
            return Sample{static_cast<double>(messages_of_a_window) / sample.figure, sample.right};
        };
        Row latency = placed(latency_row("message.latency", implementation_));
        return contest(world_, {rounds(world_, std::move(latency), ping_pong(talk_), 2), std::move(rate)},
                       options_.budget);
    }

    int sizes(const std::vector<std::pair<std::string, std::span<std::byte>>>& memories) {
        std::vector<SizedMover> movers;
        for (const auto& [memory, span] : memories)
            movers.push_back({[this, memory = memory](std::size_t bytes) {
                                  return with(placed(bandwidth_row("message.bandwidth", implementation_, bytes)),
                                              "memory", memory);
                              },
                              message_mover(talk_, span)});
        return sweep_sizes(world_, options_, movers, batches_, limits());
    }

    /// Round trips of a message from `own` and its answer, by size; beside those of the raw link if one is given.
    int round_trip_times(std::span<std::byte> own, const RawLink* raw = nullptr) {
        const auto row_of = [this](const std::string& implementation) {
            return [this, implementation](std::size_t bytes) {
                Row row = latency_row("message.round_trip", implementation);
                row.parameters["bytes"] = static_cast<std::int64_t>(bytes);
                return placed(std::move(row));
            };
        };
        std::vector<SizedMover> movers{{row_of(implementation_), round_trips(talk_, own)}};
        if (raw != nullptr) movers.push_back({row_of(raw->implementation), raw->round_trips});
        RemoteMemoryOptions from_a_reply = options_;
        from_a_reply.smallest = reply_bytes;
        return sweep_sizes(world_, from_a_reply, movers, batches_, limits());
    }

    /// take() returns the seconds of a short message that is sent right after a long one, and those of the long one.
    template <class Take>
    int interleaving(Take take) {
        Row row = placed(latency_row("message.interleaving", implementation_));
        row.unit = "%";
        row.resolution = measure::one_point;
        row.parameters["bytes"] = static_cast<std::int64_t>(options_.largest);
        return contest(world_,
                       {{std::move(row),
                         [this, take] {
                             world_.barrier();
                             const auto [first, second] = take();
                             return Sample{100 * first / second, true};
                         }}},
                       options_.budget);
    }

    /// A message of at most 1 MiB from `own` to a computing rank.
    int independent(std::span<std::byte> own) {
        const auto data = own.first(std::min(own.size(), std::size_t{1} << 20));
        std::vector<Contestant> contestants;
        for (const bool posted : {true, false}) {
            Row row = placed(latency_row("message.independent", implementation_));
            row.parameters["bytes"] = static_cast<std::int64_t>(data.size());
            row.parameters["receive"] = posted ? "posted" : "later";
            contestants.push_back({std::move(row), [this, data, posted] {
                                       world_.barrier();
                                       return Sample{send_to_computing(talk_, data, posted) * 1e6, true};
                                   }});
        }
        return contest(world_, std::move(contestants), options_.budget);
    }

private:
    SweepLimits limits() const {
        return world_.hosts() > 1 ? SweepLimits{.least_count = 1, .longest_seconds = 0.25} : SweepLimits{};
    }
    Row placed(Row row) const { return with(std::move(row), "fabric", world_.hosts() > 1 ? "network" : "shm"); }

    W& world_;
    T& talk_;
    std::string implementation_;
    RemoteMemoryOptions options_;
    Batches batches_;
};

} // namespace kumiki::bench
