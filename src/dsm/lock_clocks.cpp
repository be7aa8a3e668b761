#include "dsm/lock_clocks.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "kumiki/shared.h"

namespace kumiki::dsm {

Result<> LockClocks::allocate() {
    if (rows_ != nullptr) return {};
    const std::size_t ranks = own_.size();
    const std::size_t locks = (KUMIKI_SHARED_LOCKS + ranks - 1) / ranks;
    auto region = collectives_.allocate(locks * ranks * sizeof(std::uint64_t));
    if (!region) return tl::unexpected(region.error());
    rows_ = static_cast<std::uint64_t*>(*region);
    return {};
}

std::vector<std::uint64_t> LockClocks::now() const {
    const std::lock_guard guard(mutex_);
    return own_;
}

std::vector<std::uint64_t> LockClocks::end_interval() {
    const std::lock_guard guard(mutex_);
    ++own_[static_cast<std::size_t>(fabric_.rank())];
    return own_;
}

/// The place of a lock's clock in this rank's region; it is the same in its manager's.
std::uint64_t* LockClocks::row(int lock) const {
    return rows_ + static_cast<std::size_t>(lock / fabric_.size()) * own_.size();
}

Result<> LockClocks::acquired(int lock) {
    const int manager = lock % fabric_.size();
    const std::size_t bytes = own_.size() * sizeof(std::uint64_t);
    std::vector<std::uint64_t> seen(own_.size());
    if (const std::byte* const there = fabric_.memory().translate(manager, row(lock), bytes))
        std::memcpy(seen.data(), there, bytes);
    else if (auto got = fabric_.network()->get(manager, fabric_.memory().offset(row(lock)),
                                               std::as_writable_bytes(std::span(seen)));
             !got)
        return got;
    const std::lock_guard guard(mutex_);
    for (std::size_t rank = 0; rank < own_.size(); ++rank) own_[rank] = std::max(own_[rank], seen[rank]);
    return {};
}

Result<> LockClocks::releasing(int lock) {
    const int manager = lock % fabric_.size();
    const std::vector<std::uint64_t> clock = now();
    const std::size_t bytes = clock.size() * sizeof(std::uint64_t);
    if (std::byte* const there = fabric_.memory().translate(manager, row(lock), bytes)) {
        std::memcpy(there, clock.data(), bytes);
        return {};
    }
    fabric::Network& network = *fabric_.network();
    if (auto put = network.put(manager, fabric_.memory().offset(row(lock)), std::as_bytes(std::span(clock)), nullptr);
        !put)
        return put;
    return network.flush();
}

} // namespace kumiki::dsm
