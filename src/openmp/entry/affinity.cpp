#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "openmp/entry/entry.hpp"
#include "openmp/team.hpp"
#include "platform/thread.hpp"

/// Entry points that describe where a thread runs, by a format (OMP_AFFINITY_FORMAT).
using namespace kumiki::openmp;

namespace {

/// Processors as ranges: 0-3,6.
std::string as_ranges(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t end = i + 1;
        while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
        if (end - i > 1) text += fmt::format("-{}", cpus[end - 1]);
        i = end;
    }
    return text;
}

std::string host() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

struct Field {
    char letter;
    const char* name;
    std::string (*value)(const Member& me);
};

const Field fields[] = {
    {'t', "team_num", [](const Member&) { return std::string("0"); }},
    {'T', "num_teams", [](const Member&) { return std::string("1"); }},
    {'L', "nesting_level", [](const Member& me) { return std::to_string(me.team.level()); }},
    {'n', "thread_num", [](const Member& me) { return std::to_string(me.id); }},
    {'N', "num_threads", [](const Member& me) { return std::to_string(me.team.size()); }},
    {'a', "ancestor_tnum",
     [](const Member& me) { return std::to_string(me.team.outer() == nullptr ? -1 : me.team.outer()->id); }},
    {'H', "host", [](const Member&) { return host(); }},
    {'P', "process_id", [](const Member&) { return std::to_string(getpid()); }},
    {'i', "native_thread_id", [](const Member&) { return std::to_string(syscall(SYS_gettid)); }},
    {'A', "thread_affinity", [](const Member&) { return as_ranges(kumiki::platform::usable_cpus()); }},
};

/// One field, behind its percent sign: %0.5n or %{thread_num}. Advances `format` behind it.
std::string field(std::string_view& format, const Member& me) {
    const auto take = [&format](char letter) {
        if (format.empty() || format.front() != letter) return false;
        format.remove_prefix(1);
        return true;
    };
    if (take('%')) return "%";
    const bool zeros = take('0'), right = take('.');
    std::size_t width = 0;
    for (; !format.empty() && format.front() >= '0' && format.front() <= '9'; format.remove_prefix(1))
        width = std::min<std::size_t>(10 * width + static_cast<std::size_t>(format.front() - '0'), 4096);
    std::string_view name = format.substr(0, 1);
    const bool is_long = take('{');
    if (is_long) name = format.substr(0, format.find('}'));
    format.remove_prefix(std::min(format.size(), name.size() + (is_long ? 1 : 0)));
    for (const Field& each : fields) {
        if (is_long ? name != each.name : name != std::string_view(&each.letter, 1)) continue;
        std::string value = each.value(me);
        const std::size_t missing = width > value.size() ? width - value.size() : 0;
        return right ? std::string(missing, zeros ? '0' : ' ') + value : value + std::string(missing, ' ');
    }
    return "undefined";
}

std::string described(std::string_view format) {
    const Member& me = self();
    if (format.empty()) format = process().affinity_format();
    std::string text;
    while (!format.empty()) {
        const char letter = format.front();
        format.remove_prefix(1);
        if (letter == '%') text += field(format, me);
        else text += letter;
    }
    return text;
}

std::size_t copy_out(const std::string& text, char* to, std::size_t size) {
    if (size != 0) {
        const std::size_t length = std::min(text.size(), size - 1);
        std::memcpy(to, text.data(), length);
        to[length] = '\0';
    }
    return text.size();
}

/// A text of Fortran: its length is given, and it ends with blanks.
std::string_view trimmed(const char* text, std::size_t length) {
    std::string_view view(text, length);
    while (!view.empty() && view.back() == ' ') view.remove_suffix(1);
    return view;
}
void copy_padded(const std::string& text, char* to, std::size_t size) {
    const std::size_t length = std::min(text.size(), size);
    std::memcpy(to, text.data(), length);
    std::memset(to + length, ' ', size - length);
}

void print_line(std::string text) {
    text += '\n';
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
}

} // namespace

KUMIKI_ENTRY void omp_set_affinity_format(const char* format) { process().affinity_format() = format; }
KUMIKI_ENTRY void omp_set_affinity_format_(const char* format, std::size_t length) {
    process().affinity_format() = trimmed(format, length);
}
KUMIKI_ENTRY std::size_t omp_get_affinity_format(char* to, std::size_t size) {
    return copy_out(process().affinity_format(), to, size);
}
KUMIKI_ENTRY std::int32_t omp_get_affinity_format_(char* to, std::size_t size) {
    copy_padded(process().affinity_format(), to, size);
    return static_cast<std::int32_t>(process().affinity_format().size());
}
KUMIKI_ENTRY void omp_display_affinity(const char* format) { print_line(described(format != nullptr ? format : "")); }
KUMIKI_ENTRY void omp_display_affinity_(const char* format, std::size_t length) {
    print_line(described(trimmed(format, length)));
}
KUMIKI_ENTRY std::size_t omp_capture_affinity(char* to, std::size_t size, const char* format) {
    return copy_out(described(format != nullptr ? format : ""), to, size);
}
KUMIKI_ENTRY std::int32_t omp_capture_affinity_(char* to, const char* format, std::size_t size, std::size_t length) {
    const std::string text = described(trimmed(format, length));
    copy_padded(text, to, size);
    return static_cast<std::int32_t>(text.size());
}
