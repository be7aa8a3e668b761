#include "message/copier.hpp"

#include <algorithm>
#include <unistd.h>

#include "platform/peer_memory.hpp"

namespace kumiki::message {

using fabric::shm::Board;
using fabric::shm::Transfer;

namespace {

/// For shorter messages, telling the sender that it may help takes as long as its help would save.
constexpr std::size_t shortest_shared = std::size_t{32} << 10;
/// Measured on two cores that share memory: shorter parts cost more calls, longer ones leave one of the two cores idle
/// at the end.
constexpr std::size_t shortest_part = std::size_t{16} << 10, usual_longest_part = std::size_t{256} << 10;

} // namespace

Copier::Copier(RequestTable& table, Ways ways, std::size_t part, std::size_t longest)
    : table_(table),
      ways_(ways),
      part_(part),
      longest_part_(longest == 0 ? usual_longest_part : longest),
      reach_(static_cast<std::size_t>(table.fabric.size())) {
    platform::admit_peers();
}

std::size_t Copier::part_of(const Request& request) const {
    if (part_ != 0) return part_;
    const std::size_t wanted = std::max(platform::round_up(request.length / 8, platform::smallest_page), shortest_part);
    return std::min(wanted, longest_part_);
}

/// Finds a way to reach the other side's memory; returns false when there is none.
bool Copier::reach(Request& request, std::uint64_t offset, std::uint64_t address) {
    const auto& peer = table_.fabric.memory().block(request.rank);
    // In another namespace of processes its number means nothing here, or another process.
    const bool is_known = peer.process_namespace.load(std::memory_order_relaxed) ==
                          table_.fabric.memory().own().process_namespace.load(std::memory_order_relaxed);
    Request::Copy& copy = request.copy;
    copy.process = peer.process.load(std::memory_order_relaxed);
    copy.address = address;
    copy.there = nullptr;
    if (ways_.mapped && is_known && copy.process == getpid()) copy.there = reinterpret_cast<std::byte*>(address);
    else if (ways_.mapped && offset != Board::nowhere) copy.there = table_.fabric.memory().arena(request.rank) + offset;
    if (copy.there != nullptr) return true;
    Reach& known = reach_[static_cast<std::size_t>(request.rank)];
    if (ways_.system && is_known && known == Reach::unknown) {
        std::byte byte{}; // of the library's memory, because the caller holds a lock
        const auto asked = platform::read_peer(copy.process, peer.probe.load(std::memory_order_relaxed), &byte, 1);
        known = asked == platform::PeerCopy::done ? Reach::yes : Reach::no;
    }
    return known == Reach::yes;
}

Transfer* Copier::free_transfer() {
    for (Transfer& each : table_.fabric.memory().own().transfers)
        if (each.parties.load(std::memory_order_acquire) == 0) return &each;
    return nullptr;
}

Copier::Help Copier::pull(Request& receive, const Announcement& announced) {
    if (!reach(receive, announced.offset, announced.address)) return Help::no_way;
    Transfer* shared =
        receive.length >= shortest_shared || (part_ != 0 && receive.length > part_) ? free_transfer() : nullptr;
    receive.copy.shared = shared != nullptr;
    receive.copy.transfer = shared == nullptr ? &alone_.take().transfer : shared;
    receive.copy.pulls = true;
    Transfer& transfer = *receive.copy.transfer;
    transfer.claimed.store(0, std::memory_order_relaxed);
    transfer.done.store(0, std::memory_order_relaxed);
    transfer.broken.store(0, std::memory_order_relaxed);
    transfer.address = reinterpret_cast<std::uintptr_t>(receive.data);
    transfer.offset = table_.fabric.memory().in_region(receive.data, receive.length)
                          ? table_.fabric.memory().offset(receive.data)
                          : Board::nowhere;
    transfer.parties.store(2, std::memory_order_relaxed); // the cell sent to the sender publishes all this
    add(receive);
    return shared == nullptr ? Help::alone : Help::shared;
}

void Copier::push(Request& send, Transfer& transfer) {
    send.copy.transfer = &transfer;
    send.copy.pulls = false;
    send.copy.shared = true;
    if (!reach(send, transfer.offset, transfer.address)) send.copy.process = 0; // the receiver copies everything
    add(send);
}

void Copier::add(Request& request) {
    copies_.push_back(request);
    added_.fetch_add(1, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
}

/// Returns false when no part is left to claim.
bool Copier::copy_part(Request& request) {
    const Request::Copy& copy = request.copy;
    Transfer& transfer = *copy.transfer;
    const std::size_t part = part_of(request);
    if (copy.process == 0 || transfer.claimed.load(std::memory_order_relaxed) >= request.length) return false;
    const std::size_t at = transfer.claimed.fetch_add(part, std::memory_order_relaxed);
    if (at >= request.length) return false;
    const std::size_t bytes = std::min(part, request.length - at);
    const trace::Span span(table_.fabric.trace(), "copy_fragment", request.rank, bytes);
    std::byte* const own = request.data + at;
    if (copy.there != nullptr) {
        std::byte* const other = copy.there + at;
        table_.fabric.memory().copy_part(copy.pulls ? own : other, copy.pulls ? other : own, bytes, request.length);
    } else {
        const auto copied = copy.pulls ? platform::read_peer(copy.process, copy.address + at, own, bytes)
                                       : platform::write_peer(copy.process, copy.address + at, own, bytes);
        // The message of a rank that has died is never complete; the launcher ends the job and names that rank. If this
        // rank reported an error of its own, it would be blamed instead.
        if (copied == platform::PeerCopy::gone) return false;
        if (copied == platform::PeerCopy::refused) transfer.broken.store(1, std::memory_order_relaxed);
    }
    table_.fragments.fetch_add(1, std::memory_order_relaxed);
    if (transfer.done.fetch_add(bytes, std::memory_order_acq_rel) + bytes == request.length)
        table_.fabric.progress().ring(request.rank);
    return true;
}

} // namespace kumiki::message
