#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace kumiki::dsm {

/// An interval begins at a place of the program.
struct Visit {
    std::uint64_t place;   ///< 0: unknown
    std::uint64_t way = 0; ///< a hash of the last places, with this one; 0: unknown

    bool operator==(const Visit&) const = default;
};

/// What has followed each way. It will probably follow again if it has twice in succession.
template <std::size_t most>
class Followers {
public:
    std::optional<std::uint64_t> after(std::uint64_t way) const {
        const auto found = last_.find(way);
        if (found == last_.end() || !found->second.again) return {};
        return found->second.follower;
    }
    void note(std::uint64_t way, std::uint64_t follower) {
        if (last_.size() >= most) last_.clear();
        const auto [found, is_new] = last_.try_emplace(way, Last{follower, false});
        if (!is_new) found->second = {follower, found->second.follower == follower};
    }
    void forget(std::uint64_t way) { last_.erase(way); }

private:
    struct Last {
        std::uint64_t follower;
        bool again; ///< it was so the time before, too
    };
    std::unordered_map<std::uint64_t, Last> last_;
};

/// At which place of the program an interval will begin, by the places of the last ones. Many places tell most, as in a
/// program that calls a function with a region from here and there; but after something unusual it takes long until
/// they are the same again, and the last two must do. (As prediction by partial matching does: Cleary and Witten, "Data
/// compression using adaptive coding and partial string matching", 1984.)
class PlaceOrder {
public:
    std::optional<Visit> next() const {
        for (const std::uint64_t way : {last_.way(many), last_.way(few)})
            if (const auto place = followers_.after(way)) {
                Places then = last_;
                then.push(*place);
                return Visit{*place, then.way(many)};
            }
        return {};
    }
    /// An interval begins at this place.
    Visit add(std::uint64_t place) {
        for (const std::uint64_t way : {last_.way(many), last_.way(few)}) followers_.note(way, place);
        last_.push(place);
        return {place, last_.way(many)};
    }

private:
    static constexpr std::size_t many = 16, few = 2;

    class Places {
    public:
        void push(std::uint64_t place) {
            std::shift_right(places_.begin(), places_.end(), 1);
            places_.front() = place;
        }
        /// A hash of the last ones.
        std::uint64_t way(std::size_t count) const {
            std::uint64_t hash = count;
            for (std::size_t each = 0; each < count; ++each)
                hash = (hash ^ places_[each]) * 0x9E3779B97F4A7C15U ^ hash >> 29;
            return hash;
        }

    private:
        std::array<std::uint64_t, many> places_{}; ///< the last one comes first
    };

    Places last_;
    Followers<8192> followers_; ///< places
};

} // namespace kumiki::dsm
