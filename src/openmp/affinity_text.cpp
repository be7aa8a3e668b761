#include "openmp/affinity_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/thread.hpp"

namespace kumiki::openmp {
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
    {'t', "team_num", [](const Member& me) { return std::to_string(me.task->controls.team_number); }},
    {'T', "num_teams", [](const Member& me) { return std::to_string(me.task->controls.last_team + 1); }},
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
        if (!right) return value + std::string(missing, ' ');
        // Zeros come between the sign and the digits.
        return value.insert(zeros && value.starts_with('-') ? 1 : 0, missing, zeros ? '0' : ' ');
    }
    return "undefined";
}

} // namespace

std::string described(std::string_view format, const Member& me) {
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

void print_line(std::string text) {
    text += '\n';
    // One write, so that lines of several threads do not mix; there is nobody to tell if it fails.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void show_if_changed(Member& me) {
    std::string text = described({}, me);
    if (text == me.shown) return;
    print_line(text);
    me.shown = std::move(text);
}

} // namespace kumiki::openmp
