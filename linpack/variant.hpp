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

} // namespace kumiki::linpack
