#include "bench/remote-memory/bounds.hpp"

#include <cstring>

#include "bench/common/bare_barrier.hpp"

namespace kumiki::bench {
namespace {

void await(std::uint64_t& flag, std::uint64_t value) {
    while (Word(flag).load(std::memory_order_acquire) != value) {}
}

void raise(std::uint64_t& flag, std::uint64_t value) { Word(flag).store(value, std::memory_order_release); }

} // namespace

std::function<bool(std::uint64_t)> bare_one_line(int rank, std::span<Mailbox> at_rank_1) {
    return [rank, at_rank_1, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        over_all(at_rank_1, count, [&](Mailbox& box) {
            std::uint64_t& word = box.bare.one;
            if (rank == 0) {
                raise(word, turn + 1);
                await(word, turn + 2);
            } else {
                await(word, turn + 1);
                raise(word, turn + 2);
            }
            turn += 2;
        });
        return true;
    };
}

std::function<bool(std::uint64_t)> bare_two_lines(int rank, std::span<Mailbox> own, std::span<Mailbox> theirs) {
    return [=, turn = std::uint64_t{0}](std::uint64_t count) mutable {
        bool right = true;
        over_all(own, count, [&](Mailbox& box) {
            auto& mine = box.bare.two;
            auto& there = theirs[static_cast<std::size_t>(&box - own.data())].bare.two;
            const auto say = [&] {
                Word(there.data).store(turn, std::memory_order_relaxed);
                raise(there.flag, turn);
            };
            ++turn;
            if (rank == 0) say();
            await(mine.flag, turn);
            right = right && Word(mine.data).load(std::memory_order_relaxed) == turn;
            if (rank == 1) say();
        });
        return right;
    };
}

Mover memcpy_mover(int rank, std::span<std::byte> own, std::span<std::byte> at_rank_1, Mailbox& flags_at_rank_1) {
    auto& flags = flags_at_rank_1.bare;
    const auto move = [=, &flags](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        if (rank != 0) {
            await(flags.announced, batch);
            raise(flags.answered, batch);
            return;
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            std::memcpy(at_rank_1.data(), own.data(), bytes);
            asm volatile("" ::: "memory"); // every copy must be made, although the next one writes the same
        }
        raise(flags.announced, batch);
        await(flags.answered, batch);
    };
    if (rank == 0) return {own, {}, move};
    return {{}, at_rank_1, move};
}

Mover memcpy_round_trips(int rank, std::span<std::byte> own, std::span<std::byte> at_rank_1, Mailbox& flags_at_rank_1) {
    auto& flags = flags_at_rank_1.bare;
    const auto move = [=, &flags](std::size_t bytes, std::uint64_t count, std::uint64_t batch) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t turn = batch << 32 | i; // of this batch only: the flags still hold the last value
            if (rank == 0) {
                std::memcpy(at_rank_1.data(), own.data(), bytes);
                raise(flags.announced, turn);
                await(flags.answered, turn);
            } else {
                await(flags.announced, turn);
                raise(flags.answered, turn);
            }
        }
    };
    if (rank == 0) return {own, {}, move};
    return {{}, at_rank_1, move};
}

} // namespace kumiki::bench
