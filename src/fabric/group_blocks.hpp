#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

#include "fabric/shm/layout.hpp"

namespace kumiki::fabric {

/// Tracks which of this rank's MemberBlocks belong to groups. Every rank chooses its own blocks, so ranks need not
/// agree, and threads that make different groups at the same time do not conflict. The first block belongs to the job.
/// Thread-safe.
class GroupBlocks {
public:
    explicit GroupBlocks(shm::RankBlock& own) : own_(own) { owned_[0] = true; }

    /// Returns a cleared block that no group uses, or nothing when none is free.
    std::optional<int> take() {
        const std::lock_guard lock(mutex_);
        for (int block = 1; block < shm::most_groups; ++block) {
            const auto at = static_cast<std::size_t>(block);
            shm::MemberBlock& memory = own_.groups[at];
            // acquire: pairs with the release by which each member of the previous group counted itself in `gone`, so
            // all their accesses to the block come before this reuse.
            if (owned_[at] || memory.gone.load(std::memory_order_acquire) != members_[at]) continue;
            owned_[at] = true;
            clear(memory);
            return block;
        }
        return std::nullopt;
    }
    /// Returns a block that this rank no longer needs. It becomes free when `members` members on this host have counted
    /// themselves in `gone`.
    void give_back(int block, int members) {
        const std::lock_guard lock(mutex_);
        owned_[static_cast<std::size_t>(block)] = false;
        members_[static_cast<std::size_t>(block)] = static_cast<std::uint32_t>(members);
    }

private:
    /// Relaxed order suffices: no other rank uses the block before this rank announces its number. The board need not
    /// be cleared.
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
        for (auto* flags : {&memory.barrier, &memory.step})
            for (wait::Flag& flag : *flags) flag.value.store(0, relaxed);
        for (auto& turn : memory.contributions)
            for (shm::Contribution& line : turn) line.epoch.store(0, relaxed);
    }

    shm::RankBlock& own_;
    std::mutex mutex_;
    std::array<bool, shm::most_groups> owned_{};            ///< whether a group of this rank uses the block
    std::array<std::uint32_t, shm::most_groups> members_{}; ///< of the last group, on this host
};

} // namespace kumiki::fabric
