#include "collective/call_log.hpp"

#include <fmt/format.h>

namespace kumiki::collective {
namespace {

using fabric::shm::CallNote;

const char* name(CallNote note, bool on_one_host) {
    switch (static_cast<CallLog::Place>(note & 0xff)) {
    case CallLog::Place::barrier: return on_one_host ? "barrier (or leaves)" : "barrier or barrier_enter (or leaves)";
    case CallLog::Place::split_barrier: return "barrier_enter";
    case CallLog::Place::exchange: break;
    }
    return "another collective";
}

} // namespace

void CallLog::compare() {
    const auto self = group_.self();
    fabric::Network* const network = group_.on_one_host() ? nullptr : fabric_.network();
    for (int local = 0; local < group_.host_size(); ++local) {
        const CallNote note = group_.block(local).call.load(std::memory_order_acquire);
        if (!fabric::shm::differ(self.note, note)) continue;
        const int rank = group_.rank_in_job(group_.number_on_host(local));
        if (group_.report_difference(self, {rank, note}) && network != nullptr) network->tell_difference(group_);
        return;
    }
}

Failure CallLog::difference() const {
    const auto self = group_.self();
    const auto& parties = group_.host().differing.party;
    const auto& other =
        parties[fabric::shm::differ(self.note, parties[0].note.load(std::memory_order_relaxed)) ? 0 : 1];
    return {KUMIKI_ERROR_ARGUMENT,
            fmt::format("the ranks called different collectives: {} {}, {} {}; all ranks must call the same, "
                        "in the same order",
                        group_.describe(group_.rank()), name(self.note, group_.on_one_host()),
                        group_.describe(group_.number_of(other.rank.load(std::memory_order_relaxed))),
                        name(other.note.load(std::memory_order_relaxed), group_.on_one_host()))};
}

} // namespace kumiki::collective
