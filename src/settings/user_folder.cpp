#include "settings/user_folder.hpp"

namespace kumiki {
namespace {

std::string_view value_of(const char* const* environment, std::string_view name) {
    for (; *environment != nullptr; ++environment) {
        const std::string_view entry(*environment);
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return entry.substr(name.size() + 1);
    }
    return {};
}

} // namespace

std::filesystem::path user_folder(const char* const* environment, std::string_view variable,
                                  std::string_view otherwise) {
    // The specification says that a relative path is ignored.
    if (const std::filesystem::path folder = value_of(environment, variable); folder.is_absolute())
        return folder / "kumiki";
    const std::filesystem::path home = value_of(environment, "HOME");
    return home.empty() ? home : home / otherwise / "kumiki";
}

} // namespace kumiki
