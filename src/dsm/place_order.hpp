#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace kumiki::dsm {

/// At which place of the program an interval will begin, by the places of the last two: what has followed them twice in
/// succession will probably follow again.
class PlaceOrder {
public:
    std::optional<std::uint64_t> next() const {
        const auto found = followers_.find(last_);
        if (found == followers_.end() || !found->second.again) return {};
        return found->second.place;
    }
    /// An interval begins at this place.
    void add(std::uint64_t place) {
        if (followers_.size() == most) followers_.clear();
        const auto [found, is_new] = followers_.try_emplace(last_, Follower{place, false});
        if (!is_new) found->second = {place, found->second.place == place};
        last_ = {last_.second, place};
    }

private:
    static constexpr std::size_t most = 4096;
    struct Follower {
        std::uint64_t place;
        bool again;
    };
    std::pair<std::uint64_t, std::uint64_t> last_{};
    std::map<std::pair<std::uint64_t, std::uint64_t>, Follower> followers_;
};

} // namespace kumiki::dsm
