#include "collective/call_log.hpp"

#include <fmt/format.h>

namespace kumiki::collective {
namespace {

using fabric::shm::CallNote;

const char* name(CallNote note) {
    switch (static_cast<CallLog::Place>(note & 0xff)) {
    case CallLog::Place::barrier: return "barrier (or leaves)";
    case CallLog::Place::split_barrier: return "barrier_enter";
    case CallLog::Place::exchange: break;
    }
    return "another collective";
}

} // namespace

void CallLog::compare() {
    const auto self = fabric_.self();
    for (int local = 0; local < fabric_.host_size(); ++local) {
        const CallNote note = fabric_.host_block(local).call.load(std::memory_order_acquire);
        if (!fabric::shm::differ(self.note, note)) continue;
        const bool told = fabric_.report_difference(self, {fabric_.rank_on_host(local), note});
        if (auto* network = fabric_.network(); told && network != nullptr) network->tell_difference();
        return;
    }
}

Failure CallLog::difference() const {
    const auto self = fabric_.self();
    const auto& parties = fabric_.header().differing.party;
    const auto& other =
        parties[fabric::shm::differ(self.note, parties[0].note.load(std::memory_order_relaxed)) ? 0 : 1];
    return {KUMIKI_ERROR_ARGUMENT,
            fmt::format("the ranks called different collectives: rank {} {}, rank {} {}; all ranks must call the same, "
                        "in the same order",
                        self.rank, name(self.note), other.rank.load(std::memory_order_relaxed),
                        name(other.note.load(std::memory_order_relaxed)))};
}

} // namespace kumiki::collective
