#include "openmp/ranks/process/file_calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "kumiki/types.h"
#include "platform/thread.hpp"

namespace kumiki::openmp {
namespace {

template <class Message>
Message read_as(std::span<const std::byte> payload) {
    Message message;
    std::memcpy(&message, payload.data(), sizeof message);
    return message;
}

} // namespace

/// A rank that can be asked must know how to answer.
Result<> FileCalls::begin(collective::Collectives& collectives) {
    auto answers = collectives.add_handler([this](int, std::span<const std::byte> payload) {
        take(read_as<Piece>(payload), payload.subspan(sizeof(Piece)));
    });
    if (!answers) return tl::unexpected(answers.error());
    answers_ = *answers;
    auto asks = collectives.add_handler(
        [this](int source, std::span<const std::byte> payload) { take(source, read_as<Ask>(payload)); });
    if (!asks) return tl::unexpected(asks.error());
    asks_ = *asks;
    return {};
}

void FileCalls::end() {
    has_ended_.store(true);
    thread_ = {};
}

FileCalls::Answer FileCalls::make(int owner, const Request& request) {
    if (has_ended_.load()) return {.result = -1, .error = EBADF};
    Call call;
    Ask ask{0, request};
    {
        const std::lock_guard lock(mutex_);
        ask.number = next_++;
        calls_.emplace(ask.number, &call);
    }
    fabric_.messenger().send(owner, asks_, std::as_bytes(std::span(&ask, 1)));
    fabric_.progress().wait([&] { return call.is_answered.load(std::memory_order_acquire); });
    const std::lock_guard lock(mutex_); // the handler has left the call
    calls_.erase(ask.number);
    return std::move(call.answer);
}

/// In a handler, which must not wait.
void FileCalls::take(int source, const Ask& ask) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
        auto started =
            platform::start_worker("reads files for other ranks", [this](const std::stop_token& stop) { serve(stop); });
        if (!started) return tell(source, ask.number, {.result = -1, .error = EAGAIN});
        thread_ = std::move(*started);
    }
    asked_.push_back({source, ask});
    changed_.notify_one();
}

/// Messages from one rank to another keep their order.
void FileCalls::take(const Piece& piece, std::span<const std::byte> data) {
    {
        const std::lock_guard lock(mutex_);
        Call& call = *calls_.at(piece.number);
        call.answer.result = piece.result;
        call.answer.error = piece.error;
        call.answer.data.append(reinterpret_cast<const char*>(data.data()), data.size());
        if (call.answer.data.size() < piece.whole) return;
        call.is_answered.store(true, std::memory_order_release);
    }
    fabric_.progress().ring(fabric_.rank());
}

void FileCalls::serve(const std::stop_token& stop) {
    std::deque<Asked> all;
    while (take_asked(stop, all))
        std::erase_if(all, [this](const Asked& asked) {
            const auto answer = make_(asked.rank, asked.ask.request);
            if (answer) tell(asked.rank, asked.ask.number, *answer);
            return answer.has_value();
        });
}

/// Appends what is asked; it waits for that, but not long if there are calls for files that were in use. Returns false
/// at the end.
bool FileCalls::take_asked(const std::stop_token& stop, std::deque<Asked>& all) {
    constexpr std::chrono::microseconds until_next_look(100);
    const auto is_asked = [this] { return !asked_.empty(); };
    std::unique_lock lock(mutex_);
    if (!all.empty()) changed_.wait_for(lock, stop, until_next_look, is_asked);
    else changed_.wait(lock, stop, is_asked);
    all.insert(all.end(), asked_.begin(), asked_.end());
    asked_.clear();
    return !stop.stop_requested();
}

void FileCalls::tell(int rank, std::uint64_t number, const Answer& answer) {
    std::array<std::byte, KUMIKI_ACTIVE_MESSAGE_MAX> message;
    const Piece piece{number, answer.result, answer.error, static_cast<std::uint32_t>(answer.data.size())};
    std::memcpy(message.data(), &piece, sizeof piece);
    auto data = std::as_bytes(std::span(answer.data));
    do {
        const auto part = data.first(std::min(data.size(), message.size() - sizeof piece));
        std::ranges::copy(part, message.begin() + sizeof piece);
        fabric_.messenger().send(rank, answers_, std::span(message).first(sizeof piece + part.size()));
        data = data.subspan(part.size());
    } while (!data.empty());
}

} // namespace kumiki::openmp
