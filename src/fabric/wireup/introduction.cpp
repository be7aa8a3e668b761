#include "fabric/wireup/introduction.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>
#include <string_view>
#include <unistd.h>

#include "platform/hardware.hpp"
#include "platform/interfaces.hpp"
#include "platform/memory.hpp"
#include "platform/thread.hpp"

namespace kumiki::fabric {
namespace {

constexpr std::string_view this_version = "kumiki-join-4";

std::string boot() {
    std::string line;
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::getline(file, line);
    return line;
}

std::string inode(const char* link) {
    std::error_code error;
    return std::filesystem::read_symlink(link, error).string();
}

} // namespace

Introduction Introduction::of_this_process(const Settings& settings, int rank) {
    const std::string name = platform::host_name();
    Introduction own;
    own.machine = boot();
    if (own.machine.empty()) own.machine = name;
    // Each network namespace counts as a host. Ranks in different process namespaces cannot share memory through /proc,
    // so these count, too.
    own.host = fmt::format("{}/{}/{}/{}", own.machine, inode("/proc/self/ns/net"), inode("/proc/self/ns/pid"), name);
    own.addresses = platform::addresses_of(platform::interfaces());
    own.process = getpid();
    own.threads = Settings::of_rank(settings.threads, rank);
    own.thread_counts = settings.threads.size();
    own.arena_bytes = settings.arena_bytes;
    own.memory_bytes = platform::physical_memory();
    own.cpus = platform::usable_cpus();
    return own;
}

std::string Introduction::pack() const {
    return fmt::format("{}\n{}\n{}\n{}\n{} {} {} {} {} {}", this_version, machine, host, addresses, process, threads,
                       thread_counts, arena_bytes, memory_bytes, fmt::join(cpus, " "));
}

Result<Introduction> Introduction::unpack(const std::string& text) {
    std::istringstream lines(text);
    Introduction other;
    std::string version;
    std::getline(lines, version);
    std::getline(lines, other.machine);
    std::getline(lines, other.host);
    std::getline(lines, other.addresses);
    lines >> other.process >> other.threads >> other.thread_counts >> other.arena_bytes >> other.memory_bytes;
    bool understood = version == this_version && lines;
    for (int cpu = 0; lines >> cpu;) other.cpus.push_back(cpu);
    understood = understood && lines.eof();
    if (!understood)
        return fail(KUMIKI_ERROR_ENVIRONMENT, "a rank of this job runs another version of Kumiki, or another program; "
                                              "start the same program with the same library everywhere");
    return other;
}

} // namespace kumiki::fabric
