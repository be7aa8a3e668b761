#include "linpack/block_map.hpp"

#include <algorithm>

namespace kumiki::linpack {

BlockMap::BlockMap(std::size_t length, std::size_t block, int parts, std::span<const int> owners)
    : length_(length),
      block_(block),
      owner_(owners.begin(), owners.end()),
      own_(static_cast<std::size_t>(parts)),
      before_(static_cast<std::size_t>(parts)) {
    for (std::vector<std::size_t>& before : before_) before.assign(1, 0);
    for (std::size_t index = 0; index < blocks(); ++index) {
        own_[static_cast<std::size_t>(owner_[index])].push_back(index);
        for (std::size_t part = 0; part < before_.size(); ++part)
            before_[part].push_back(before_[part].back() +
                                    (static_cast<int>(part) == owner_[index] ? width(index) : 0));
    }
}

BlockMap BlockMap::cyclic(std::size_t length, std::size_t block, int parts) {
    std::vector<int> owners(blocks_in(length, block));
    for (std::size_t index = 0; index < owners.size(); ++index)
        owners[index] = static_cast<int>(index % static_cast<std::size_t>(parts));
    return {length, block, parts, owners};
}

std::size_t BlockMap::width(std::size_t block) const { return std::min(block_, length_ - begin(block)); }

std::size_t BlockMap::largest_local_length() const {
    std::size_t largest = 0;
    for (const std::vector<std::size_t>& before : before_) largest = std::max(largest, before.back());
    return largest;
}

std::size_t BlockMap::local_of(std::size_t index) const {
    return local_begin(owner_of(index), index / block_) + index % block_;
}

std::vector<int> weighted_owners(std::size_t blocks, std::span<const double> weights) {
    std::vector<int> owners(blocks);
    std::vector<double> count(weights.size(), 0);
    for (std::size_t step = 0; step < blocks; ++step) {
        const std::size_t block = blocks - 1 - step;
        // Among equals the part whose turn it is in the cyclic order, and then those before it.
        std::size_t best = weights.size();
        for (std::size_t offset = 0; offset < weights.size(); ++offset) {
            const std::size_t part = (block + weights.size() - offset) % weights.size();
            if (weights[part] <= 0) continue;
            if (best == weights.size() || (count[part] + 1) * weights[best] < (count[best] + 1) * weights[part])
                best = part;
        }
        owners[block] = static_cast<int>(best);
        count[best] += 1;
    }
    return owners;
}

} // namespace kumiki::linpack
