#pragma once

#include <cstdint>
#include <span>

#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/mailbox.hpp"
#include "kumiki/kumiki.hpp"

// Kumiki's ways to move data between rank 0's own memory and rank 1's region (loops.hpp). Rank 1 answers a put's signal
// at once and reads the data when the clock has stopped.

namespace kumiki::bench {

Mover put_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region, Mailbox& box);
/// The same bytes by puts of 8 bytes, one word after another.
Mover word_put_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region, Mailbox& box);
Mover get_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region);

} // namespace kumiki::bench
