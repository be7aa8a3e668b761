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

    /// The board as one rank accesses it. All ranks must end before the board does.
    std::shared_ptr<fabric::KeyValueSpace> space(int rank);

    /// Rank `rank` has died: no rank waits for it any more, and its data are missing.
    void leave() { all_.arrive_and_drop(); }
    /// Every value passes through this function before it is written, so that a test can corrupt some.
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
