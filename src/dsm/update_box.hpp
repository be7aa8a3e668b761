#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace kumiki::dsm {

/// New contents of pages that their homes have sent, and that the barrier to which they belong has not stored yet: a
/// home that is ahead sends them before this rank knows what it waits for, and until then the copies must not change.
/// The thread that receives puts them here, the one that is in the barrier takes them.
class UpdateBox {
public:
    struct Update {
        int source;
        std::uint64_t barrier;
        std::vector<std::byte> packed;
    };

    /// Holds at most `most` bytes: more than homes send in one barrier and the next.
    explicit UpdateBox(std::size_t most) : most_(most) {}

    /// Returns false if it is full.
    bool put(Update update) {
        const std::lock_guard lock(mutex_);
        if (update.packed.size() > most_ - bytes_) return false;
        bytes_ += update.packed.size();
        updates_.push_back(std::move(update));
        any_.store(true, std::memory_order_relaxed); // a hint; the lock orders the updates
        return true;
    }
    bool is_empty() const { return !any_.load(std::memory_order_relaxed); }
    std::vector<Update> take() {
        if (is_empty()) return {};
        const std::lock_guard lock(mutex_);
        any_.store(false, std::memory_order_relaxed);
        bytes_ = 0;
        return std::exchange(updates_, {});
    }

private:
    std::size_t most_;
    std::mutex mutex_;
    std::vector<Update> updates_;
    std::size_t bytes_ = 0;
    std::atomic<bool> any_{false};
};

} // namespace kumiki::dsm
