#pragma once

#include <filesystem>
#include <string_view>

namespace kumiki {

/// Kumiki's folder among those of the user, by the XDG Base Directory Specification: `kumiki` in the folder that this
/// variable names, or in `otherwise` of HOME if it names no absolute path; empty if HOME is not set, either.
std::filesystem::path user_folder(const char* const* environment, std::string_view variable,
                                  std::string_view otherwise);

} // namespace kumiki
