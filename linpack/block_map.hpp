#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kumiki::linpack {

/// How the rows (or columns) of a matrix are dealt, in blocks of equal width, to the process rows (or columns) of the
/// grid: an owner for each block. A part keeps its blocks one after another, in ascending order.
class BlockMap {
public:
    /// `owners[b]`, 0 .. parts - 1, owns block b; there is one for each block of `length` elements.
    BlockMap(std::size_t length, std::size_t block, int parts, std::span<const int> owners);
    /// Block b belongs to part b mod parts.
    static BlockMap cyclic(std::size_t length, std::size_t block, int parts);

    std::size_t length() const { return length_; }
    std::size_t block() const { return block_; }
    std::size_t blocks() const { return owner_.size(); }
    int parts() const { return static_cast<int>(own_.size()); }

    int owner(std::size_t block) const { return owner_[block]; }
    std::size_t begin(std::size_t block) const { return block * block_; }
    /// Elements of the block: only the last may be narrower than the others.
    std::size_t width(std::size_t block) const;

    /// Elements that a part has.
    std::size_t local_length(int part) const { return before_[static_cast<std::size_t>(part)].back(); }
    std::size_t largest_local_length() const;
    /// Elements that a part has in the blocks before `block` (0 .. blocks()): where that block begins in the part, or
    /// where the next that it owns does.
    std::size_t local_begin(int part, std::size_t block) const {
        return before_[static_cast<std::size_t>(part)][block];
    }

    int owner_of(std::size_t index) const { return owner_[index / block_]; }
    /// Where the element lies in the part that owns it.
    std::size_t local_of(std::size_t index) const;
    /// The element of the whole that element `local` of a part is.
    std::size_t global_of(int part, std::size_t local) const {
        return begin(own_[static_cast<std::size_t>(part)][local / block_]) + local % block_;
    }
    /// The blocks of a part, in ascending order.
    std::span<const std::size_t> blocks_of(int part) const { return own_[static_cast<std::size_t>(part)]; }

private:
    std::size_t length_, block_;
    std::vector<int> owner_;
    std::vector<std::vector<std::size_t>> own_;    ///< by part: its blocks
    std::vector<std::vector<std::size_t>> before_; ///< by part and block: elements of the part in earlier blocks
};

/// The number of blocks of `block` elements that `length` elements make.
constexpr std::size_t blocks_in(std::size_t length, std::size_t block) { return (length + block - 1) / block; }

/// Owners of `blocks` block columns in proportion to `weights` (one for each part, at least one above 0), so that not
/// only the whole matrix but every trailing part of it is shared in proportion, because each step of the
/// factorisation updates the columns behind it. Dealt from the last block to the first, each to the part that is then
/// done soonest. A part of weight 0 gets nothing. Equal weights give the cyclic order.
std::vector<int> weighted_owners(std::size_t blocks, std::span<const double> weights);

} // namespace kumiki::linpack
