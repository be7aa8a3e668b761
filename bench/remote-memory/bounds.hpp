#pragma once

#include "bench/common/job_world.hpp"
#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/mailbox.hpp"

// The performance of the bare machine on the same memory: ordinary loads, stores and memcpy on rank 1's region.

namespace kumiki::bench {

/// One word in one line, which both ranks write: the fastest possible message of 8 bytes, because the rank that has
/// read the line owns it.
std::function<bool(std::uint64_t)> bare_one_line(int rank, std::span<Mailbox> at_rank_1);
/// A datum and a flag beside it, in a line of the receiver for each direction: the words that a put with its signal
/// writes.
std::function<bool(std::uint64_t)> bare_two_lines(int rank, std::span<Mailbox> own, std::span<Mailbox> theirs);
/// memcpy from own memory into rank 1's; bare flags announce and answer it.
Mover memcpy_mover(int rank, std::span<std::byte> own, std::span<std::byte> at_rank_1, Mailbox& flags_at_rank_1);
/// The same, but each copy is announced and answered before the next.
Mover memcpy_round_trips(int rank, std::span<std::byte> own, std::span<std::byte> at_rank_1, Mailbox& flags_at_rank_1);

} // namespace kumiki::bench
