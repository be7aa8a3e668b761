#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "error/result.hpp"

namespace kumiki {

/// A result of `kumiki tune`: the length of fragments for a link of a kind of machine (Maestro paper, F21, F27).
struct TunedLength {
    std::string machine; ///< platform::hardware_key()
    std::string link;    ///< memory_link, or network_link()
    std::uint64_t bytes = 0;
};

inline constexpr std::string_view memory_link = "memory";
/// `interface`: KUMIKI_INTERFACE; empty: any.
std::string network_link(std::string_view interface);

/// The file in which tuned lengths are kept: kumiki/tuned in XDG_CONFIG_HOME or otherwise in .config of HOME; empty if
/// neither is set.
std::filesystem::path tuned_file(const char* const* environment);

/// Reads the lines `MACHINE LINK FRAGMENT` of a file, which may also have comments that begin with #. Returns nothing
/// if the file cannot be opened. Any other line is a Failure that names the file, the line and the remedy.
Result<std::vector<TunedLength>> read_tuned(const std::filesystem::path& file);

/// 0: there is none.
std::uint64_t tuned_length(const std::vector<TunedLength>& lengths, std::string_view machine, std::string_view link);

} // namespace kumiki
