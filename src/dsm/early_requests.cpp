#include "dsm/early_requests.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kumiki::dsm {

EarlyRequests::Put EarlyRequests::put(EarlyRequest request) {
    const std::lock_guard lock(mutex_);
    if (request.barrier <= left_) return Put::late;
    if (kept_.size() == most_) return Put::too_many;
    kept_.push_back(std::move(request));
    return Put::kept;
}

/// A rank that has left this barrier already may have sent its requests for the next one.
std::vector<EarlyRequest> EarlyRequests::take(std::uint64_t barrier) {
    const std::lock_guard lock(mutex_);
    left_ = barrier;
    const auto due = std::ranges::stable_partition(
        kept_, [barrier](const EarlyRequest& request) { return request.barrier > barrier; });
    std::vector<EarlyRequest> taken(std::move_iterator(due.begin()), std::move_iterator(due.end()));
    kept_.erase(due.begin(), due.end());
    return taken;
}

} // namespace kumiki::dsm
