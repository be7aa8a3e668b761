#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

#include "fabric/shm/layout.hpp"

namespace kumiki::fabric {

/// Which of this rank's MemberBlocks belong to groups. Every rank chooses its own, so ranks need not agree, and threads
/// that make different groups at once do not meet. The first is the job's. Thread-safe.
class GroupBlocks {
public:
    explicit GroupBlocks(shm::RankBlock& own) : own_(own) { owned_[0] = true; }

    /// A block that nobody uses, cleared; nothing when this rank has all of them in groups.
    std::optional<int> take() {
        const std::lock_guard lock(mutex_);
        for (int block = 1; block < shm::most_groups; ++block) {
            const auto at = static_cast<std::size_t>(block);
            shm::MemberBlock& memory = own_.groups[at];
            // acquire: the last members have done with it what they did before they said that they have gone.
            if (owned_[at] || memory.gone.load(std::memory_order_acquire) != members_[at]) continue;
            owned_[at] = true;
            clear(memory);
            return block;
        }
        return std::nullopt;
    }
    /// This rank needs the block no more; it is free when as many `members` on this host have said that they have gone.
    void give_back(int block, int members) {
        const std::lock_guard lock(mutex_);
        owned_[static_cast<std::size_t>(block)] = false;
        members_[static_cast<std::size_t>(block)] = static_cast<std::uint32_t>(members);
    }

private:
    /// Nobody sees the block before this rank has told its number; what lies on the board need not be cleared.
    static void clear(shm::MemberBlock& memory) {
        constexpr auto relaxed = std::memory_order_relaxed;
        memory.call.store(0, relaxed);
        memory.gone.store(0, relaxed);
        for (wait::Gate* gate :
             {&memory.host.barrier, &memory.host.step, &memory.host.split, &memory.host.over_hosts}) {
            gate->arrived.value.store(0, relaxed);
            gate->epoch.value.store(0, relaxed);
        }
        memory.host.differing.call.store(0, relaxed);
        memory.host.differing.teller.store(0, relaxed);
        for (wait::Flag& flag : memory.barrier) flag.value.store(0, relaxed);
        for (auto& turn : memory.contributions)
            for (shm::Contribution& line : turn) line.epoch.store(0, relaxed);
    }

    shm::RankBlock& own_;
    std::mutex mutex_;
    std::array<bool, shm::most_groups> owned_{};            ///< by a group of this rank
    std::array<std::uint32_t, shm::most_groups> members_{}; ///< on this host, of the last group
};

} // namespace kumiki::fabric
