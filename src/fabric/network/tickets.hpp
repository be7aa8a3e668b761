#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace kumiki::fabric {

/// Numbers that stand for this process's own objects in messages. A number in a reply is looked up here and never used
/// as an address. It consists of an index into the table and the use count of that entry, so that the number of a
/// closed ticket finds nothing. All calls are thread-safe; the caller must keep a found object alive.
template <class T>
class Tickets {
public:
    /// Returns a number that is never 0.
    std::uint64_t open(T& object) {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(places_.size()));
            places_.push_back({});
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        Place& place = places_[index];
        place.object = &object;
        return static_cast<std::uint64_t>(++place.uses) << 32 | index;
    }
    /// Returns null when there is no such ticket, or it was closed.
    T* find(std::uint64_t number) const {
        const std::lock_guard lock(mutex_);
        return is_open(number) ? places_[static_cast<std::uint32_t>(number)].object : nullptr;
    }
    void close(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        if (!is_open(number)) return;
        places_[static_cast<std::uint32_t>(number)].object = nullptr;
        free_.push_back(static_cast<std::uint32_t>(number));
    }

private:
    struct Place {
        T* object = nullptr;
        std::uint32_t uses = 0;
    };
    bool is_open(std::uint64_t number) const {
        const auto index = static_cast<std::uint32_t>(number);
        return index < places_.size() && places_[index].object != nullptr && places_[index].uses == number >> 32;
    }

    mutable std::mutex mutex_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> free_;
};

} // namespace kumiki::fabric
