#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <unistd.h>

#include "openmp/process.hpp"
#include "openmp/settings.hpp"

namespace kumiki::openmp {
namespace {

constexpr const char* truth(bool value) { return value ? "TRUE" : "FALSE"; }

std::string schedule_text(const Schedule& schedule) {
    constexpr std::array<const char*, 5> names{"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
    const char* const name = names[static_cast<std::size_t>(schedule.kind)];
    const std::string text = schedule.monotonic ? fmt::format("MONOTONIC:{}", name) : name;
    const bool is_default_chunk = schedule.chunk == 0 || (schedule.chunk == 1 && schedule.kind != Kind::fixed);
    return is_default_chunk ? text : fmt::format("{},{}", text, schedule.chunk);
}

std::string binds_text(const Environment& environment) {
    constexpr std::array<const char*, 5> names{"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
    if (environment.binds.empty()) return names[static_cast<std::size_t>(environment.controls.bind)];
    std::string text;
    for (const Bind bind : environment.binds)
        text += fmt::format("{}{}", text.empty() ? "" : ",", names[static_cast<std::size_t>(bind)]);
    return text;
}

std::string places_text(const std::vector<Place>& places) {
    std::string text;
    for (const Place& place : places) text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", fmt::join(place, ","));
    return text;
}

std::string allocator_text(std::uintptr_t allocator) {
    constexpr std::array<const char*, 9> names{
        "omp_null_allocator",   "omp_default_mem_alloc", "omp_large_cap_mem_alloc",
        "omp_const_mem_alloc",  "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",
        "omp_cgroup_mem_alloc", "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};
    return allocator < names.size() ? names[allocator] : "OTHER";
}

std::string threads_text(const Environment& environment) {
    if (environment.threads.size() < 2) return std::to_string(environment.controls.threads);
    return fmt::format("{}", fmt::join(environment.threads, ","));
}

} // namespace

void display(const Environment& environment, bool verbose) {
    const Controls& controls = environment.controls;
    std::string text = "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n";
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("  {} = '{}'\n", name, value);
    };
    line("OMP_DYNAMIC", truth(controls.dynamic));
    line("OMP_NESTED", truth(controls.max_active_levels > 1));
    line("OMP_NUM_THREADS", threads_text(environment));
    line("OMP_SCHEDULE", schedule_text(controls.schedule));
    line("OMP_PROC_BIND", binds_text(environment));
    line("OMP_PLACES", places_text(environment.places));
    line("OMP_STACKSIZE", std::to_string(environment.stack_bytes));
    line("OMP_WAIT_POLICY", environment.wait == WaitWish::active ? "ACTIVE" : "PASSIVE");
    line(
        "OMP_THREAD_LIMIT",
        std::to_string(controls.thread_limit == no_limit ? 4294967295U : static_cast<unsigned>(controls.thread_limit)));
    line("OMP_MAX_ACTIVE_LEVELS", std::to_string(controls.max_active_levels));
    line("OMP_NUM_TEAMS", std::to_string(environment.num_teams));
    line("OMP_TEAMS_THREAD_LIMIT", std::to_string(controls.teams_thread_limit));
    line("OMP_CANCELLATION", truth(environment.cancellation));
    line("OMP_DEFAULT_DEVICE", std::to_string(controls.default_device));
    line("OMP_MAX_TASK_PRIORITY", std::to_string(environment.max_task_priority));
    line("OMP_DISPLAY_AFFINITY", truth(environment.display_affinity));
    line("OMP_AFFINITY_FORMAT", environment.affinity_format);
    line("OMP_ALLOCATOR", allocator_text(controls.allocator));
    line("OMP_TARGET_OFFLOAD", environment.target_offload);
    if (verbose) {
        line("KUMIKI_CPUS", fmt::format("{}", fmt::join(environment.cpus, ",")));
        line("GOMP_STACKSIZE", std::to_string(environment.stack_bytes));
    }
    text += "OPENMP DISPLAY ENVIRONMENT END\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace kumiki::openmp
