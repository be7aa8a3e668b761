#include "launch/host/environment.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>
#include <unistd.h>

namespace kumiki::launch {
namespace {

bool is_named(std::string_view entry, std::string_view name) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
}

} // namespace

Environment::Environment(const char* const* entries) {
    for (; *entries != nullptr; ++entries) entries_.emplace_back(*entries);
}

bool Environment::has(std::string_view name) const {
    return std::ranges::any_of(entries_, [&](const std::string& entry) { return is_named(entry, name); });
}

void Environment::set(std::string_view name, std::string_view value) {
    auto entry = fmt::format("{}={}", name, value);
    const auto found = std::ranges::find_if(entries_, [&](const std::string& old) { return is_named(old, name); });
    if (found != entries_.end()) *found = std::move(entry);
    else entries_.push_back(std::move(entry));
}

void Environment::remove(std::string_view name) {
    std::erase_if(entries_, [&](const std::string& entry) { return is_named(entry, name); });
}

std::vector<char*> Environment::entries() {
    std::vector<char*> pointers;
    for (std::string& entry : entries_) pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    return pointers;
}

Result<Settings> read_settings_with(const Variables& options) {
    Environment environment(environ);
    for (const auto& [name, value] : options) environment.set(name, value);
    return read_settings(environment.entries().data());
}

void tell_job(Environment& environment, const Job& job, int segment) {
    for (const auto& [name, value] : job.options.settings) environment.set(name, value);
    environment.set("KUMIKI_SIZE", std::to_string(job.share.size));
    environment.set("KUMIKI_LOCAL_SIZE", std::to_string(job.ranks()));
    if (!job.share.host.empty()) environment.set("KUMIKI_HOST", job.share.host);
    if (!job.share.host.empty()) environment.set("KUMIKI_NETWORK_DEVICES", job.settings.network_devices);
    const bool equal = std::ranges::adjacent_find(job.threads, std::ranges::not_equal_to()) == job.threads.end();
    environment.set("KUMIKI_JOB_THREADS",
                    equal ? std::to_string(job.threads.front()) : fmt::format("{}", fmt::join(job.threads, ",")));
    environment.set("KUMIKI_SEGMENT", std::to_string(segment));
    environment.set("KUMIKI_CROWDED", job.placement.crowded ? "yes" : "no");
}

void tell_rank(Environment& environment, const Job& job, int rank, const RankDescriptors& descriptors) {
    environment.set("KUMIKI_RANK", std::to_string(job.share.first + rank));
    environment.set("KUMIKI_LOCAL_RANK", std::to_string(rank));
    const auto tell_descriptor = [&](std::string_view name, int descriptor) {
        if (descriptor >= 0) environment.set(name, std::to_string(descriptor));
        else environment.remove(name); // that of a rank which starts this job
    };
    tell_descriptor("KUMIKI_WIREUP", descriptors.wireup);
    tell_descriptor("KUMIKI_OUTPUT_MARKS", descriptors.marks);
    tell_descriptor("KUMIKI_OUTPUT_UNREAD", descriptors.unread);
    const RankPlace& place = job.placement.ranks[static_cast<std::size_t>(rank)];
    environment.set("KUMIKI_THREADS", std::to_string(place.size));
    environment.set("KUMIKI_CPUS", fmt::format("{}", fmt::join(place.threads, ",")));
    environment.set("KUMIKI_DEVICES", fmt::format("{}", fmt::join(place.devices, ",")));
    for (const auto& [name, value] : place.variables) environment.set(name, value);
    // Without this variable OpenMP would use all processors that it sees. OpenBLAS, BLIS and MKL also obey it, unless
    // their own variables are set.
    // An OpenMP program counts the threads of all its ranks.
    const int threads = job.options.openmp ? std::accumulate(job.threads.begin(), job.threads.end(), 0) : place.size;
    if (!environment.has("OMP_NUM_THREADS")) environment.set("OMP_NUM_THREADS", std::to_string(threads));
}

} // namespace kumiki::launch
