#include "message/copies.hpp"

// The copies that few messages need: fragments through the area, and messages out of the reserve.
namespace kumiki::message {

/// Makes the rare ones of the copies that progress() has taken on.
void Near::make_rare(Copies& copies) {
    while (Arrival* const arrival = copies.reserved.front()) {
        copies.reserved.remove(*arrival);
        hand_over(*arrival);
    }
    if (copies.leaving().empty()) return;
    platform::expect_no_lock("a fragment is read");
    for (const Leaving& each : copies.leaving())
        table_.fabric.memory().copy(each.to->to.slot(each.slot), each.send->data + each.at, each.bytes);
    const std::lock_guard lock(table_.lock);
    for (const Leaving& each : copies.leaving()) {
        fabric::shm::CellContent cell{};
        cell.kind = static_cast<std::uint8_t>(Kind::fragment);
        cell.slot = static_cast<std::uint8_t>(each.slot);
        cell.bytes = each.bytes;
        cell.put(Reply{each.send->token, each.at});
        post(*each.to, cell);
        table_.fragments.fetch_add(1, std::memory_order_relaxed);
        count_copied(*each.send, each.bytes);
    }
}

/// Counts a fragment of a message through the area. The thread that copied the last one completes the request: each
/// thread releases its copy by this addition, and the last one acquires all of them.
void Near::count_copied(Request& request, std::size_t bytes) {
    if (request.copied.fetch_add(bytes, std::memory_order_acq_rel) + bytes == request.length) table_.complete(request);
}

} // namespace kumiki::message
