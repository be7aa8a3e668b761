#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "dsm/turn.hpp"
#include "fabric/fabric.hpp"

namespace kumiki::dsm {

class Pages;

/// The frames in which this rank holds other ranks' pages, over all arrays, in the order in which it fetched them, and
/// a bound for their bytes (KUMIKI_SHARED_CACHE). A frame counts until it is given back, also if its copy has been
/// dropped meanwhile. Where all that could be given back is in use at this moment, the bound is exceeded for a while:
/// each thread needs a window of pages. Thread-safe: one thread at a time evicts, and it waits for no page.
class CopyCache {
public:
    /// 0 bytes: no bound, and nothing is counted.
    CopyCache(fabric::Fabric& fabric, std::uint64_t most) : most_(most), turn_(fabric, busy_) {}

    bool is_bounded() const { return most_ != 0; }
    /// The most bytes that one thread should fetch at once.
    std::size_t longest_fetch() const { return most_ / 4; }

    /// `count` pages from `first` on, which the thread has locked, get frames: calls evict(array, page) -> bool for the
    /// oldest ones until there is room. It returns false for a page that is in use.
    template <class Evict>
    void admit(Pages& array, std::size_t page_bytes, std::size_t first, std::size_t count, Evict evict) {
        const std::lock_guard turn(turn_);
        bytes_ += count * page_bytes;
        for (std::size_t left = frames_.size(); bytes_ > most_ && left > 0; --left) {
            const Frame oldest = frames_.front();
            frames_.pop_front();
            if (evict(*oldest.array, oldest.page)) bytes_ -= oldest.bytes;
            else frames_.push_back(oldest);
        }
        for (std::size_t page = first; page < first + count; ++page) frames_.push_back({&array, page, page_bytes});
    }
    /// The array is about to be released.
    void forget(const Pages& array) {
        const std::lock_guard turn(turn_);
        std::erase_if(frames_, [&](const Frame& frame) {
            if (frame.array != &array) return false;
            bytes_ -= frame.bytes;
            return true;
        });
    }

private:
    struct Frame {
        Pages* array;
        std::size_t page, bytes;
    };

    std::uint64_t most_;
    std::deque<Frame> frames_;
    std::uint64_t bytes_ = 0;
    std::atomic<std::uint8_t> busy_{0};
    Turn turn_;
};

} // namespace kumiki::dsm
