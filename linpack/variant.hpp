#pragma once

#include <cstddef>

namespace kumiki::linpack {

/// When a panel factorisation applies what it has computed: to all columns on the right at once (right-looking), to a
/// column when its turn comes (left-looking), or rows at once and columns in their turn (Crout). HPL numbers them so.
enum class Looking { left = 0, crout = 1, right = 2 };

/// How a panel is factored: by recursion (`recursive`, each panel cut into `parts`) down to `least` columns, which are
/// factored column by column (`leaf`). HPL calls these RFACT, NDIV, NBMIN and PFACT.
struct Variant {
    Looking recursive = Looking::right;
    std::size_t parts = 2; ///< at least 2
    Looking leaf = Looking::right;
    std::size_t least = 8; ///< at least 1
};

/// What is done while the next panel is made and is on its way (its owner always updates that panel's columns first,
/// but for `none`):
/// - tiles: threads take slabs of the columns one after another, each smaller than the one before;
/// - chopped: each thread updates a block of columns at a time until the panel is there, and the rest by one product
///   (the original HPL);
/// - thread: each thread makes one product, and a thread of its own waits for the panel and passes it on (the TSUBAME
///   paper, section 4.2);
/// - none: the next panel is made after the whole update.
enum class LookAhead { tiles, chopped, thread, none };

} // namespace kumiki::linpack
