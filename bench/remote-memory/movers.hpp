#pragma once

#include <cstdint>
#include <span>

#include "bench/common/pair.hpp"
#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/mailbox.hpp"
#include "kumiki/kumiki.hpp"

// Kumiki's ways to move data between a rank's own memory and another rank's region (loops.hpp). The receiver answers a
// put's signal at once, and reads the data when the clock has stopped.

namespace kumiki::bench {

/// From the pair's first rank to its second; the other ranks take no part.
Mover put_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region, Mailbox& box, Pair pair = {});
/// The same bytes by puts of 8 bytes, one word after another.
Mover word_put_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region, Mailbox& box);
Mover get_mover(Job& job, std::span<std::byte> own, std::span<std::byte> region);

} // namespace kumiki::bench
