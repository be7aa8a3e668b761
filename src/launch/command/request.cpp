#include "launch/command/request.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "settings/settings.hpp"
#include "text/text.hpp"
#include "topology/ranges.hpp"

namespace kumiki::launch {
namespace {

constexpr std::string_view blanks = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (;;) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (line.empty()) return words;
        words.push_back(line.substr(0, line.find_first_of(blanks)));
        line.remove_prefix(words.back().size());
    }
}

Failure unusable(std::string_view key, std::string_view value, const std::string& reason) {
    return {KUMIKI_ERROR_ARGUMENT, fmt::format("{}={} is not usable: {}", key, value, reason)};
}

Result<std::vector<int>> thread_counts(std::string_view text) {
    std::vector<int> counts;
    for (const std::string_view each : text::split(text, ',')) {
        const auto count = count_from(each, most_threads);
        if (!count)
            return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("it must be a whole number from 1 to {}, or several with "
                                                           "commas between them",
                                                           most_threads));
        counts.push_back(*count);
    }
    return counts;
}

/// Stores the value of one KEY=VALUE in the line; `seen` are the keys before it.
Result<> take_word(Line& line, std::string_view word, std::vector<std::string_view>& seen) {
    const auto equals = std::min(word.find('='), word.size());
    const auto key = word.substr(0, equals), value = word.substr(std::min(equals + 1, word.size()));
    if (std::ranges::find(seen, key) != seen.end())
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{} is given twice in one line", key));
    seen.push_back(key);
    const auto into = [&](auto& member, auto read) -> Result<> {
        if (!read) return tl::unexpected(unusable(key, value, read.error().message));
        member = std::move(*read);
        return {};
    };
    if (key == "threads") return into(line.request.threads, thread_counts(value));
    if (key == "cores") return into(line.request.cores, topology::numbers_in(value));
    if (key == "devices") return into(line.request.devices, devices_from(value));
    if (key == "slots") {
        line.slots = count_from(value, most_ranks);
        if (line.slots) return {};
        return tl::unexpected(unusable(key, value, fmt::format("it must be a whole number from 1 to {}", most_ranks)));
    }
    return fail(KUMIKI_ERROR_ARGUMENT,
                fmt::format("\"{}\" is not understood; a line is a name, and any of slots=N, threads=N, cores=LIST and "
                            "devices=LIST",
                            word));
}

Result<Line> line_of(const std::vector<std::string_view>& words) {
    Line line;
    const bool is_named = words.front().find('=') == std::string_view::npos;
    if (is_named) line.name = words.front();
    std::vector<std::string_view> seen;
    for (std::size_t i = is_named ? 1 : 0; i < words.size(); ++i)
        if (auto taken = take_word(line, words[i], seen); !taken) return tl::unexpected(taken.error());
    return line;
}

} // namespace

Result<DeviceRequest> devices_from(std::string_view text) {
    DeviceRequest devices{.given = true, .all = text == "all", .numbers = {}};
    if (text == "all" || text == "none") return devices;
    auto numbers = topology::numbers_in(text);
    if (!numbers) return fail(KUMIKI_ERROR_ARGUMENT, numbers.error().message + ", all or none");
    devices.numbers = std::move(*numbers);
    return devices;
}

std::optional<int> count_from(std::string_view text, int most) {
    const auto count = text::number<int>(text);
    return count && *count >= 1 && *count <= most ? count : std::nullopt;
}

Result<> read_lines(std::string_view text, std::string_view file, const std::function<Result<>(const Line&)>& take) {
    for (int number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto whole = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto words = words_of(whole.substr(0, whole.find('#')));
        if (words.empty()) continue;
        if (auto taken = line_of(words).and_then(take); !taken)
            return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{}, line {}: {}", file, number, taken.error().message));
    }
    return {};
}

Result<std::string> text_of(const std::string& path, std::string_view kind) {
    std::ifstream file(path);
    std::ostringstream text;
    if (file && (text << file.rdbuf() || (file.peek() == std::ifstream::traits_type::eof() && !file.bad())))
        return text.str();
    return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("cannot read the {} {}: {}", kind, path, std::strerror(errno)));
}

} // namespace kumiki::launch
