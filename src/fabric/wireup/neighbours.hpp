#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include "error/result.hpp"
#include "platform/memory.hpp"
#include "platform/thread.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// What a rank says of itself before anybody knows who shares a host with whom.
struct Introduction {
    std::string machine; ///< its boot
    std::string host;    ///< what ranks that can share memory and call each other local have in common
    int process = 0;
    int threads = 0;                ///< that were asked for; 0: as many as there is room for
    std::uint64_t arena_bytes = 0;  ///< that were asked for; 0: as much as the host has memory
    std::uint64_t memory_bytes = 0; ///< of the host
    std::vector<int> cpus;          ///< that the rank may run on

    static Introduction of_this_process(const Settings& settings) {
        Introduction own;
        std::ifstream("/proc/sys/kernel/random/boot_id") >> own.machine;
        std::array<char, 256> name{};
        gethostname(name.data(), name.size() - 1);
        // Namespaces of the network are hosts to it; over the border of one of processes no memory can be handed on.
        own.host = fmt::format("{}/{}/{}/{}", own.machine, inode("/proc/self/ns/net"), inode("/proc/self/ns/pid"),
                               name.data());
        own.process = getpid();
        own.threads = settings.threads;
        own.arena_bytes = settings.arena_bytes;
        own.memory_bytes = platform::physical_memory();
        own.cpus = platform::usable_cpus();
        return own;
    }
    std::string pack() const {
        return fmt::format("{} {} {} {} {} {} {} {}", version, machine, host, process, threads, arena_bytes,
                           memory_bytes, fmt::join(cpus, " "));
    }
    static Result<Introduction> unpack(const std::string& text) {
        std::istringstream words(text);
        Introduction other;
        std::string its_version;
        words >> its_version >> other.machine >> other.host >> other.process >> other.threads >> other.arena_bytes >>
            other.memory_bytes;
        if (!words || its_version != version)
            return fail(KUMIKI_ERROR_ENVIRONMENT, "a rank of this job runs another version of Kumiki, or another "
                                                  "program; start the same program with the same library everywhere");
        for (int cpu = 0; words >> cpu;) other.cpus.push_back(cpu);
        return other;
    }

private:
    static constexpr std::string_view version = "kumiki-join-1";

    static std::string inode(const char* link) {
        std::error_code error;
        return std::filesystem::read_symlink(link, error).string();
    }
};

/// What follows for one rank from the introductions of all: its place on its host, its threads and processors.
class Neighbours {
public:
    Neighbours(std::vector<Introduction> all, int rank) : all_(std::move(all)), rank_(rank) {
        for (int other = 0; other < size(); ++other)
            if (at(other).host == own().host) local_.push_back(other);
    }

    int size() const { return static_cast<int>(all_.size()); }
    int leader() const { return local_.front(); }
    bool leads() const { return leader() == rank_; }
    int local_size() const { return static_cast<int>(local_.size()); }
    int local_rank() const { return static_cast<int>(std::ranges::find(local_, rank_) - local_.begin()); }
    const Introduction& at(int rank) const { return all_[static_cast<std::size_t>(rank)]; }
    const Introduction& own() const { return at(rank_); }

    int largest_local_size() const {
        std::unordered_map<std::string_view, int> ranks;
        int largest = 0;
        for (const auto& each : all_) largest = std::max(largest, ++ranks[each.host]);
        return largest;
    }
    struct Arena {
        std::uint64_t bytes;
        bool is_wish; ///< somebody has asked for it
    };
    /// The smallest that a rank has asked for, or that a host's memory suggests.
    Arena least_arena() const {
        Arena least{~std::uint64_t{0}, false};
        for (const auto& each : all_) {
            const bool is_wish = each.arena_bytes > 0;
            const auto bytes = is_wish ? each.arena_bytes : std::bit_ceil(each.memory_bytes);
            if (bytes < least.bytes) least = {bytes, is_wish};
        }
        return least;
    }

    /// Settles what a launcher of ours would have told this rank.
    void settle(Settings& settings) const {
        settings.rank = rank_;
        settings.size = size();
        settings.local_rank = local_rank();
        settings.local_size = local_size();
        settings.threads = threads(rank_);
        settings.crowded = is_crowded();
        if (settings.bind && !settings.crowded) settings.cpus = processors();
    }

private:
    /// Ranks that may run on the very same processors as `rank`; mpirun binds ranks or lets them share all.
    std::vector<int> sharers(int rank) const {
        std::vector<int> found;
        for (int other = 0; other < size(); ++other)
            if (at(other).machine == at(rank).machine && at(other).cpus == at(rank).cpus) found.push_back(other);
        return found;
    }
    int share(int rank) const { return std::max(1, static_cast<int>(at(rank).cpus.size() / sharers(rank).size())); }
    int threads(int rank) const { return at(rank).threads > 0 ? at(rank).threads : share(rank); }

    /// Of a whole machine, since hosts that are namespaces share its processors; and the same for all its ranks, which
    /// choose the way of their barriers by it.
    bool is_crowded() const {
        std::size_t wanted = 0;
        std::vector<int> cpus;
        for (int other = 0; other < size(); ++other) {
            if (at(other).machine != own().machine) continue;
            const auto count = static_cast<std::size_t>(threads(other));
            if (count > at(other).cpus.size()) return true;
            wanted += count;
            cpus.insert(cpus.end(), at(other).cpus.begin(), at(other).cpus.end());
        }
        std::ranges::sort(cpus);
        cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
        return wanted > cpus.size();
    }
    /// A part of the processors that no other rank gets; none, hence unbound, where sets overlap in other ways.
    std::vector<int> processors() const {
        const auto equals = sharers(rank_);
        const int count = threads(rank_);
        for (int other = 0; other < size(); ++other)
            if (at(other).machine == own().machine && at(other).cpus != own().cpus &&
                std::ranges::find_first_of(at(other).cpus, own().cpus) != at(other).cpus.end())
                return {};
        if (std::ranges::any_of(equals, [&](int other) { return threads(other) > share(other); })) return {};
        const auto first = (std::ranges::find(equals, rank_) - equals.begin()) * share(rank_);
        return {own().cpus.begin() + first, own().cpus.begin() + first + count};
    }

    std::vector<Introduction> all_;
    int rank_;
    std::vector<int> local_; ///< the ranks of this host, in order
};

} // namespace kumiki::fabric
