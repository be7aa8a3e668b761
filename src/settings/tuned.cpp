#include "settings/tuned.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sstream>

#include "settings/user_folder.hpp"
#include "text/text.hpp"

namespace kumiki {
namespace {

std::optional<TunedLength> parse(const std::string& line) {
    TunedLength length;
    std::string bytes, more;
    std::istringstream words(line);
    if (!(words >> length.machine >> length.link >> bytes) || words >> more) return std::nullopt;
    length.bytes = text::number<decltype(length.bytes)>(bytes).value_or(0);
    if (length.bytes == 0) return std::nullopt;
    return length;
}

} // namespace

std::string network_link(std::string_view interface) {
    return interface.empty() ? "network" : fmt::format("network:{}", interface);
}

std::filesystem::path tuned_file(const char* const* environment) {
    const std::filesystem::path folder = user_folder(environment, "XDG_CONFIG_HOME", ".config");
    return folder.empty() ? folder : folder / "tuned";
}

Result<std::vector<TunedLength>> read_tuned(const std::filesystem::path& file) {
    std::vector<TunedLength> lengths;
    std::ifstream lines(file);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        if (line.starts_with('#') || line.find_first_not_of(" \t\r") == line.npos) continue;
        auto length = parse(line);
        if (!length)
            return fail(
                KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("{}, line {}, is not `MACHINE LINK BYTES`; delete it, run kumiki tune again, or set "
                            "KUMIKI_FRAGMENT, with which the file is not read",
                            file.string(), number));
        lengths.push_back(std::move(*length));
    }
    return lengths;
}

std::uint64_t tuned_length(const std::vector<TunedLength>& lengths, std::string_view machine, std::string_view link) {
    const auto found =
        std::ranges::find_if(lengths, [&](const auto& each) { return each.machine == machine && each.link == link; });
    return found == lengths.end() ? 0 : found->bytes;
}

} // namespace kumiki
