#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "dsm/packed_pages.hpp"

namespace kumiki::dsm {

/// The pages that a rank needs right after a barrier, as far as it knows before.
struct EarlyRequest {
    int source;
    std::uint64_t array, barrier;
    std::vector<PageRun> runs;
};

/// At a home: requests for pages that other ranks have sent ahead of a barrier, and that this rank answers when it
/// leaves that barrier: then its pages have everybody's changes. The thread that receives puts them here, the one that
/// is in the barrier takes them.
class EarlyRequests {
public:
    /// The most pages that a rank may request of a home and an array, and that a home sends to all ranks after a
    /// barrier. Its computation waits until they are sent, so with more of them nothing would be gained.
    static constexpr std::size_t most_pages = 64;

    enum class Put : std::uint8_t {
        kept,
        late,     ///< this rank has left that barrier already
        too_many, ///< more than ranks send between two barriers
    };
    explicit EarlyRequests(std::size_t most) : most_(most) {}
    Put put(EarlyRequest request);
    /// This rank leaves the barrier. Returns what is to be answered now.
    std::vector<EarlyRequest> take(std::uint64_t barrier);

private:
    std::size_t most_;
    std::mutex mutex_;
    std::vector<EarlyRequest> kept_;
    std::uint64_t left_ = 0; ///< the last barrier that this rank has left
};

} // namespace kumiki::dsm
