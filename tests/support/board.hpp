#pragma once

#include <barrier>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fabric/wireup/space.hpp"

namespace kumiki::tests {

/// A key-value space in this process, for ranks that are threads.
class Board {
public:
    explicit Board(int ranks, std::size_t longest_value = 1024) : ranks_(ranks), longest_(longest_value), all_(ranks) {}

    /// The board as one rank sees it. All ranks must end before the board does.
    std::shared_ptr<fabric::KeyValueSpace> space(int rank);

    /// Rank `rank` has died: nobody waits for it any more, and what it would have told is missing.
    void leave() { all_.arrive_and_drop(); }
    /// Every value goes through this before it is written: how a test spoils some.
    std::function<std::string(const std::string& key, std::string value)> spoil;

private:
    class Space;
    const int ranks_;
    const std::size_t longest_;
    std::barrier<> all_;
    std::mutex mutex_;
    std::map<std::string, std::string, std::less<>> values_;
};

} // namespace kumiki::tests
