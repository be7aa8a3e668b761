#include "dsm/shared_heap.hpp"

#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace kumiki::dsm {
namespace {

std::span<std::byte> part_of(std::span<std::byte> memory, const fabric::Fabric& fabric) {
    const std::size_t part = memory.size() / static_cast<std::size_t>(fabric.size());
    return memory.subspan(static_cast<std::size_t>(fabric.rank()) * part, part);
}

} // namespace

SharedHeap::SharedHeap(const fabric::Fabric& fabric, std::span<std::byte> memory, std::byte* region, bool has_copies)
    : fabric_(fabric),
      memory_(memory),
      part_bytes_(memory.size() / static_cast<std::size_t>(fabric.size())),
      own_(part_of(memory, fabric)),
      records_(fabric, region),
      has_copies_(has_copies),
      blocks_(own_) {}

bool SharedHeap::has(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= memory_.data() && at < memory_.data() + memory_.size();
}

Result<void*> SharedHeap::allocate(std::size_t bytes) {
    if (bytes == 0) return fail(KUMIKI_ERROR_ARGUMENT, "shared_malloc: a block needs at least one byte");
    if (auto collected = collect(); !collected) return tl::unexpected(collected.error());
    const std::uint32_t kind = BlockSupply::kind_of(bytes);
    const auto block = kind < BlockSupply::kinds ? blocks_.take(kind) : std::nullopt;
    if (!block)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("shared_malloc: rank {} has no block of {} bytes left in its part, which is {} bytes "
                                "long; free blocks, or set KUMIKI_SHARED_HEAP, which all ranks share, to more than {}",
                                fabric_.rank(), bytes, part_bytes_, memory_.size()));
    if (!block->fresh) std::memset(block->begin, 0, bytes);
    const std::size_t number = number_of(static_cast<std::size_t>(block->begin - memory_.data()));
    const Record used{.state = Record::State::used, .kind = kind, .next = 0};
    if (auto stored = records_.store(fabric_.rank(), record_at(number), used.word()); !stored)
        return tl::unexpected(stored.error());
    return block->begin;
}

Result<> SharedHeap::release(void* memory) {
    if (memory == nullptr) return {};
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(memory) - memory_.data());
    const auto refuse = [memory](const char* reason) {
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("shared_free: {} {}", memory, reason));
    };
    if (!has(memory))
        return refuse("is in no memory of shared_malloc; give what that has returned (shared arrays are released by "
                      "shared_release)");
    if (offset % BlockSupply::smallest != 0) return refuse("is inside a block; give its first address");
    const int owner = owner_of(offset);
    const std::size_t at = record_at(number_of(offset));
    const auto found = records_.load(owner, at);
    if (!found) return tl::unexpected(found.error());
    Record record = Record::of(*found);
    if (record.state == Record::State::used) {
        record.state = Record::State::freed;
        const auto before = records_.compare_swap(owner, at, *found, record.word());
        if (!before) return tl::unexpected(before.error());
        // If the word is another one by now, another thread has freed the block.
        if (*before == *found) {
            if (owner == fabric_.rank()) blocks_.give(record.kind, static_cast<std::byte*>(memory));
            else if (!has_copies_) return give_back(offset);
            else {
                const std::lock_guard lock(mutex_);
                freed_.push_back(offset);
            }
            return {};
        }
    }
    if (record.state == Record::State::none) return refuse("is not where a block begins");
    return refuse("has been freed already");
}

// -- blocks that other ranks free --

SharedHeap::Freed SharedHeap::take_freed() {
    const std::lock_guard lock(mutex_);
    return std::exchange(freed_, {});
}

Result<> SharedHeap::give_back(const Freed& freed) const {
    for (const std::size_t offset : freed)
        if (auto given = give_back(offset); !given) return given;
    return {};
}

/// Puts the block before those that have returned to its owner. That one takes all at once, so a block that is the
/// first of them again, after others were in between, is no error: the block's record says what follows then, too.
Result<> SharedHeap::give_back(std::size_t offset) const {
    const int owner = owner_of(offset);
    const std::size_t number = number_of(offset);
    const auto record = records_.load(owner, record_at(number));
    if (!record) return tl::unexpected(record.error());
    Record freed = Record::of(*record);
    auto first = records_.load(owner, returned);
    while (first) {
        freed.next = *first;
        if (auto linked = records_.store(owner, record_at(number), freed.word()); !linked) return linked;
        const auto before = records_.compare_swap(owner, returned, *first, number + 1);
        if (before && *before == *first) return {};
        first = before;
    }
    return tl::unexpected(first.error());
}

/// The swap acquires what those have done with their blocks that have returned them.
Result<> SharedHeap::collect() {
    const auto any = records_.load(fabric_.rank(), returned);
    if (!any) return tl::unexpected(any.error());
    if (*any == 0) return {};
    auto next = records_.swap(fabric_.rank(), returned, 0);
    while (next && *next != 0) {
        const std::size_t number = *next - 1;
        const auto word = records_.load(fabric_.rank(), record_at(number));
        if (!word) return tl::unexpected(word.error());
        const Record record = Record::of(*word);
        blocks_.give(record.kind, own_block(number));
        next = record.next;
    }
    return next ? Result<>{} : tl::unexpected(next.error());
}

} // namespace kumiki::dsm
