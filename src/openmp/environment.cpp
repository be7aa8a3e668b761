#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <string_view>

#include "openmp/places.hpp"
#include "openmp/process.hpp"
#include "openmp/settings.hpp"
#include "platform/thread.hpp"
#include "text/text.hpp"

namespace kumiki::openmp {
namespace {

using Text = std::string_view;

std::string normal(Text text) {
    std::string lower(text::trimmed(text));
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lower;
}

std::vector<std::string> split(Text text, char at) {
    std::vector<std::string> parts;
    for (const Text part : text::split(text, at)) parts.push_back(normal(part));
    return parts;
}

std::optional<std::uint64_t> number(Text text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return text::number<std::uint64_t>(text);
}

std::optional<int> whole(Text text, int least) {
    const auto value = number(text);
    if (!value || *value < static_cast<std::uint64_t>(least) || *value > 0x7fffffff) return {};
    return static_cast<int>(*value);
}

std::optional<bool> truth(Text text) {
    if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
    if (text == "false" || text == "no" || text == "off" || text == "0") return false;
    return {};
}

bool read_threads(Environment& environment, Text text) {
    std::vector<int> threads;
    for (const auto& part : split(text, ',')) {
        const auto value = whole(part, 1);
        if (!value) return false;
        threads.push_back(*value);
    }
    environment.controls.threads = threads.front();
    if (threads.size() > 1) environment.controls.max_active_levels = most_active_levels;
    environment.threads = std::move(threads);
    return true;
}

bool read_schedule(Environment& environment, Text text) {
    Schedule schedule;
    if (const auto colon = text.find(':'); colon != Text::npos) {
        const auto modifier = normal(text.substr(0, colon));
        if (modifier != "monotonic" && modifier != "nonmonotonic") return false;
        schedule.monotonic = modifier == "monotonic";
        text.remove_prefix(colon + 1);
    }
    const auto parts = split(text, ',');
    const std::array<Text, 4> kinds{"static", "dynamic", "guided", "auto"};
    const auto kind = std::ranges::find(kinds, parts.front());
    if (kind == kinds.end() || parts.size() > 2) return false;
    schedule.kind = Kind(kind - kinds.begin() + 1);
    schedule.chunk = schedule.kind == Kind::dynamic || schedule.kind == Kind::guided ? 1 : 0;
    if (parts.size() == 2) {
        const auto chunk = whole(parts[1], 1);
        if (!chunk) return false;
        schedule.chunk = static_cast<std::uint64_t>(*chunk);
    }
    environment.controls.schedule = schedule;
    environment.controls.has_schedule = true;
    return true;
}

bool read_binds(Environment& environment, Text text) {
    std::vector<Bind> binds;
    for (const auto& part : split(text, ',')) {
        if (part == "false" || part == "true") {
            if (text.find(',') != Text::npos) return false;
            binds.push_back(part == "true" ? Bind::yes : Bind::no);
        } else if (part == "master" || part == "primary") {
            binds.push_back(Bind::primary);
        } else if (part == "close" || part == "spread") {
            binds.push_back(part == "close" ? Bind::close : Bind::spread);
        } else {
            return false;
        }
    }
    environment.controls.bind = binds.front();
    if (binds.size() > 1) environment.controls.max_active_levels = most_active_levels;
    environment.binds = std::move(binds);
    return true;
}

/// Sizes are in kilobytes unless a letter follows.
bool read_stack(Environment& environment, Text text) {
    const std::string lower = normal(text);
    const auto digits = std::min(lower.find_first_not_of("0123456789"), lower.size());
    const auto value = number(lower.substr(0, digits));
    const auto unit = normal(Text(lower).substr(digits));
    const auto shift = std::string_view("bkmg").find(unit.empty() ? 'k' : unit.front());
    if (!value || unit.size() > 1 || shift == std::string_view::npos || *value > (std::uint64_t{1} << 40)) return false;
    environment.stack_bytes = *value << (10 * shift);
    return true;
}

bool read_wait(Environment& environment, Text text) {
    if (text == "active") environment.wait = WaitWish::active;
    else if (text == "passive") environment.wait = WaitWish::passive;
    else return false;
    return true;
}

bool read_display(Environment& environment, Text text) {
    if (text == "verbose") environment.display = Display::verbose;
    else if (const auto wanted = truth(text)) environment.display = *wanted ? Display::yes : Display::no;
    else return false;
    return true;
}

bool read_offload(Environment& environment, Text text) {
    if (text != "mandatory" && text != "disabled" && text != "default") return false;
    environment.target_offload = text;
    std::ranges::transform(environment.target_offload, environment.target_offload.begin(),
                           [](char letter) { return static_cast<char>(std::toupper(letter)); });
    if (environment.needs_device()) environment.controls.default_device = invalid_device;
    return true;
}

bool read_named_allocator(Environment& environment, Text text) {
    const auto named = read_allocator(text);
    if (!named) return false;
    environment.controls.allocator = named->handle;
    environment.allocator = named->allocator;
    return true;
}

bool assign(int& to, std::optional<int> value) {
    if (value) to = *value;
    return value.has_value();
}
bool assign(bool& to, std::optional<bool> value) {
    if (value) to = *value;
    return value.has_value();
}

bool read_nested(Environment& environment, Text text) {
    const auto nested = truth(text);
    if (nested) environment.controls.max_active_levels = *nested ? most_active_levels : 1;
    return nested.has_value();
}

struct Variable {
    const char* name;
    const char* usable; ///< in the sentence about a value that is not
    bool (*read)(Environment& environment, Text text);
};

constexpr int most_levels_value = most_active_levels;

// Lists of threads and binds allow nesting, unless OMP_NESTED says otherwise, which OMP_MAX_ACTIVE_LEVELS overrides;
// and OMP_TARGET_OFFLOAD gives the default device that OMP_DEFAULT_DEVICE overrides: so they are read in this order. A
// name with _ALL, for the host and all devices, comes before the one without.
constexpr Variable variables[] = {
    {"OMP_NUM_THREADS", "whole numbers of at least 1, such as 4 or 4,2", read_threads},
    {"OMP_SCHEDULE", "static, dynamic, guided or auto, such as dynamic,4", read_schedule},
    {"OMP_DYNAMIC", "true or false", [](Environment& e, Text text) { return assign(e.controls.dynamic, truth(text)); }},
    {"OMP_PROC_BIND", "true, false, or a list of primary, close and spread", read_binds},
    {"OMP_NESTED", "true or false", read_nested},
    {"OMP_MAX_ACTIVE_LEVELS", "a whole number",
     [](Environment& e, Text text) {
         const bool good = assign(e.controls.max_active_levels, whole(text, 0));
         e.controls.max_active_levels = std::min(e.controls.max_active_levels, most_levels_value);
         return good;
     }},
    {"OMP_THREAD_LIMIT", "a whole number of at least 1",
     [](Environment& e, Text text) { return assign(e.controls.thread_limit, whole(text, 1)); }},
    {"GOMP_STACKSIZE", "a size such as 512K or 16M", read_stack},
    {"OMP_STACKSIZE", "a size such as 512K or 16M", read_stack},
    {"OMP_WAIT_POLICY", "active or passive", read_wait},
    {"OMP_CANCELLATION", "true or false",
     [](Environment& e, Text text) { return assign(e.cancellation, truth(text)); }},
    {"OMP_DISPLAY_ENV", "true, false or verbose", read_display},
    {"OMP_DISPLAY_AFFINITY", "true or false",
     [](Environment& e, Text text) { return assign(e.display_affinity, truth(text)); }},
    {"OMP_MAX_TASK_PRIORITY", "a whole number",
     [](Environment& e, Text text) { return assign(e.max_task_priority, whole(text, 0)); }},
    {"OMP_TARGET_OFFLOAD", "mandatory, disabled or default", read_offload},
    {"OMP_DEFAULT_DEVICE", "a whole number",
     [](Environment& e, Text text) { return assign(e.controls.default_device, whole(text, 0)); }},
    {"OMP_NUM_TEAMS", "a whole number of at least 1",
     [](Environment& e, Text text) { return assign(e.num_teams, whole(text, 1)); }},
    {"OMP_TEAMS_THREAD_LIMIT", "a whole number of at least 1",
     [](Environment& e, Text text) { return assign(e.controls.teams_thread_limit, whole(text, 1)); }},
    {"OMP_ALLOCATOR",
     "the name of a predefined allocator or of a memory space, such as omp_high_bw_mem_alloc or "
     "omp_default_mem_space:alignment=64,pinned=true",
     read_named_allocator},
    {"GOMP_CPU_AFFINITY", "processors such as 0 2-4 6-14:2",
     [](Environment& e, Text text) {
         if (std::getenv("OMP_PLACES") != nullptr) return true; // which takes precedence
         e.places = read_cpu_affinity(text, e.cpus);
         return !e.places.empty();
     }},
    {"OMP_PLACES",
     "threads, cores, ll_caches, numa_domains, sockets, or a list such as {0:2},{2:2} of processors that the "
     "process may use",
     [](Environment& e, Text text) {
         e.places = read_places(text, e.cpus);
         return !e.places.empty();
     }},
};

void read(Environment& environment, const Variable& variable, const std::string& name) {
    const char* const text = std::getenv(name.c_str());
    if (text != nullptr && !variable.read(environment, normal(text)))
        say(fmt::format("{}={} is not usable: it must be {}; it is ignored", name, text, variable.usable));
}

/// If only one of places and binding is given, the other one follows.
void complete_binding(Environment& environment) {
    if (environment.binds.empty() && !environment.places.empty()) environment.controls.bind = Bind::yes;
    if (environment.controls.bind == Bind::no) environment.places.clear();
    else if (environment.places.empty()) environment.places = places_of_kind("cores", environment.cpus);
}

} // namespace

Environment read_environment() {
    Environment environment;
    environment.cpus = platform::usable_cpus();
    environment.controls.threads = std::max(1, static_cast<int>(environment.cpus.size()));
    for (const Variable& variable : variables)
        for (const char* const form : {"_ALL", ""}) read(environment, variable, variable.name + std::string(form));
    if (const char* const format = std::getenv("OMP_AFFINITY_FORMAT")) environment.affinity_format = format;
    complete_binding(environment);
    return environment;
}

} // namespace kumiki::openmp
