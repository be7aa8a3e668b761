#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/polled_words.hpp"
#include "bench/remote-memory/ucx_link.hpp"

// UCX's ways to move data between rank 0 and rank 1 (loops.hpp).

namespace kumiki::bench {

/// A put of 8 bytes that the target polls.
inline std::function<bool(std::uint64_t)> put_ping_pong(UcxLink& link) {
    return [&link, batch = std::size_t{0}, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        const std::size_t turn_at = PolledWords::turn(batch++);
        for (std::uint64_t i = 0; i < count; ++i) {
            ++turn;
            if (link.rank() == 0) link.put_word(turn_at, turn);
            link.await_word(turn_at, turn);
            if (link.rank() == 1) link.put_word(turn_at, turn);
        }
        return true;
    };
}

inline Mover put_mover(UcxLink& link, std::span<std::byte> own) {
    const auto move = [&link, own](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        if (link.rank() == 0) {
            for (std::uint64_t i = 0; i < count; ++i) link.put(PolledWords::bytes, own.data(), bytes);
            link.flush();
            link.put_word(PolledWords::announced, batch);
            link.await_word(PolledWords::answered, batch);
        } else {
            link.await_word(PolledWords::announced, batch);
            link.put_word(PolledWords::answered, batch);
        }
        link.settle();
    };
    if (link.rank() == 0) return {own, {}, move};
    return {{}, link.own().subspan(PolledWords::bytes), move};
}

/// Tagged messages of 8 bytes.
inline std::function<bool(std::uint64_t)> tag_ping_pong(UcxLink& link) {
    return [&link, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        bool right = true;
        for (std::uint64_t i = 0; i < count; ++i) {
            ++turn;
            std::uint64_t heard = 0;
            if (link.rank() == 0) link.send(&turn, sizeof turn);
            link.receive(&heard, sizeof heard);
            if (link.rank() == 1) link.send(&turn, sizeof turn);
            right = right && heard == turn;
        }
        return right;
    };
}

/// Tagged messages one after another, then one that answers them.
inline Mover tag_mover(UcxLink& link, std::span<std::byte> own) {
    const auto move = [&link, own](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        for (std::uint64_t i = 0; i < count; ++i) {
            if (link.rank() == 0) link.send(own.data(), bytes);
            else link.receive(own.data(), bytes);
        }
        std::uint64_t answer = batch;
        if (link.rank() == 0) link.receive(&answer, sizeof answer);
        else link.send(&answer, sizeof answer);
        link.settle();
    };
    if (link.rank() == 0) return {own, {}, move};
    return {{}, own, move};
}

} // namespace kumiki::bench
