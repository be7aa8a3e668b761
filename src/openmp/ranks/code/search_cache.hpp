#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "openmp/ranks/code/code_search.hpp"
#include "openmp/ranks/code/waiting_calls.hpp"

namespace kumiki::openmp {

/// What a search for instructions has found in an image, in a file of the user's, because the search takes a second for
/// 3 to 5 MB of code. The file's name is a hash of all that the search depends on: the code of the image and of this
/// library, the decoder's version, and where the image lies; but for the functions that its loops call, which the file
/// names.
///
/// It is kept in `$XDG_CACHE_HOME/kumiki/code`, or `~/.cache/kumiki/code`. Where that is not possible, or a file is
/// not as this library has written it, the image is searched again.
class SearchCache {
public:
    explicit SearchCache(const Image& image);
    /// Nothing: nothing is kept.
    std::optional<std::vector<Finding>> read() const;
    /// Does nothing if the search was short.
    void keep(std::span<const Finding> found, std::span<const WaitingCalls::Slot> slots) const;

private:
    std::filesystem::path file_; ///< empty: nothing is kept
};

} // namespace kumiki::openmp
