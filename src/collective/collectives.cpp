#include "collective/collectives.hpp"

#include <cstring>
#include <fmt/format.h>

namespace kumiki::collective {

const char* Collectives::name(Kind kind) {
    switch (kind) {
    case Kind::agreement: return "agreement";
    case Kind::refused: return "refused call";
    case Kind::allocate: return "allocate";
    case Kind::release: return "release";
    case Kind::add_handler: return "register_handler";
    case Kind::broadcast: return "broadcast";
    case Kind::reduce: return "reduce";
    case Kind::all_reduce: return "all_reduce";
    case Kind::all_to_all: return "all_to_all";
    case Kind::all_gather: return "all_gather";
    case Kind::all_collect: return "all_collect";
    case Kind::gather: return "gather";
    case Kind::scatter: return "scatter";
    case Kind::scan: return "scan";
    case Kind::reduce_scatter: return "reduce_scatter";
    case Kind::group_split: return "group_split";
    case Kind::group_create: return "group_create";
    }
    return "nothing";
}

Failure Collectives::two_threads() const {
    return {KUMIKI_ERROR_STATE,
            fmt::format("two threads of {} are in a collective at once; let one thread of each rank call it",
                        group_.describe(group_.rank()))};
}

/// The exchange decides: if two threads arrive at the same moment, one is admitted.
Collectives::CallGuard::CallGuard(Collectives& collectives)
    : collectives_(collectives), alone_(!collectives.in_use_.exchange(true, std::memory_order_acquire)) {}

Collectives::CallGuard::~CallGuard() {
    if (alone_) collectives_.in_use_.store(false, std::memory_order_release);
}

Result<> Collectives::CallGuard::alone() const {
    if (alone_ && !collectives_.barrier_.waiting()) return {};
    return tl::unexpected(collectives_.two_threads());
}

Result<> Collectives::CallGuard::admitted() const {
    if (auto is_alone = alone(); !is_alone) return is_alone;
    if (collectives_.barrier_.entered())
        return fail(KUMIKI_ERROR_STATE, "a split-phase barrier is open; call barrier_wait before another collective");
    if (collectives_.calls_.broken())
        return fail(KUMIKI_ERROR_STATE,
                    fmt::format("there are no more collectives in {}, because in an earlier one some ranks were in a "
                                "barrier and others were not; the message about it names them",
                                collectives_.group_.is_job() ? "this job" : "this group"));
    return {};
}

Result<> Collectives::barrier() {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    calls_.begin(CallLog::Place::barrier);
    if (!barrier_.meet()) return tl::unexpected(calls_.difference());
    return {};
}

Result<> Collectives::barrier_enter() {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    // Between hosts both barriers meet at the same gate.
    calls_.begin(one_host() ? CallLog::Place::split_barrier : CallLog::Place::barrier);
    barrier_.enter();
    return {};
}

/// It needs no guard, whose exchange would take longer than the rest if all have arrived: other calls are refused while
/// the barrier is open, and while a thread waits in it.
Result<> Collectives::barrier_wait() {
    if (barrier_.waiting()) return tl::unexpected(two_threads());
    if (!barrier_.entered()) return fail(KUMIKI_ERROR_STATE, "barrier_wait without barrier_enter before it");
    if (!barrier_.wait()) return tl::unexpected(calls_.difference());
    return {};
}

Result<> Collectives::end_open_barrier() { return barrier_.entered() ? barrier_wait() : Result<>(); }

Result<> Collectives::leave() {
    if (auto ended = end_open_barrier(); !ended) return ended;
    return barrier();
}

Result<> Collectives::announce(const CollectiveCall& call, std::span<const std::byte> data, std::uint64_t offset) {
    calls_.begin(CallLog::Place::exchange);
    turn_ ^= 1;
    Board& mine = group_.own().board;
    mine.notice[turn_].call = call;
    mine.notice[turn_].offset = offset;
    if (!data.empty()) std::memcpy(mine.data[turn_].data(), data.data(), data.size());
    return over_hosts(call, compare(call), {}, {});
}

/// Synchronizes the ranks of this host and compares their calls with that of this rank.
Result<> Collectives::compare(const CollectiveCall& call) {
    if (has_lines()) return exchange(call, {}, [](int, const std::byte*) {});
    if (!barrier_.meet_host()) return tl::unexpected(calls_.difference());
    for (int local = 0; local < group_.host_size(); ++local)
        if (const auto& theirs = notice(local).call; theirs != call)
            return differs(group_.number_on_host(local), theirs, call);
    return {};
}

Result<> Collectives::refuse(const Result<>& failure) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    return refuse_inside(failure);
}

Result<> Collectives::refuse_inside(const Result<>& failure) {
    static_cast<void>(announce({static_cast<std::uint32_t>(Kind::refused), 0, 0}, {}));
    return failure;
}

Failure Collectives::difference(int other, const CollectiveCall& theirs, const CollectiveCall& mine) const {
    if (static_cast<Kind>(theirs.kind) == Kind::refused)
        return {KUMIKI_ERROR_ARGUMENT,
                fmt::format("{} called {} with arguments that were refused there; its own message says why",
                            group_.describe(other), name(static_cast<Kind>(mine.kind)))};
    const auto words = [](const CollectiveCall& call) {
        return fmt::format("{} of {} bytes (root, type and operation, or lengths: {:#x})",
                           name(static_cast<Kind>(call.kind)), call.bytes, call.detail);
    };
    return {KUMIKI_ERROR_ARGUMENT,
            fmt::format("the ranks called different collectives: {} {}, {} {}; all ranks must call the same, "
                        "in the same order, with the same sizes",
                        group_.describe(group_.rank()), words(mine), group_.describe(other), words(theirs))};
}

Result<> Collectives::differs(int other, const CollectiveCall& theirs, const CollectiveCall& mine) {
    odd_ = {other, theirs};
    return tl::unexpected(difference(other, theirs, mine));
}

Result<> Collectives::agree_that(const Result<>& local, const Failure& elsewhere) {
    std::uint64_t failed = local ? 0 : 1;
    if (auto agreed = largest({&failed, 1}); !agreed) return agreed;
    if (!local) return local;
    if (failed != 0) return tl::unexpected(elsewhere);
    return {};
}

Result<void*> Collectives::allocate(std::size_t bytes, std::uint64_t needed) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return tl::unexpected(admitted.error());
    if (auto same = announce({static_cast<std::uint32_t>(Kind::allocate), 0, bytes}, {}); !same)
        return tl::unexpected(same.error());
    if (bytes == 0) return fail(KUMIKI_ERROR_ARGUMENT, "a region needs at least one byte");
    auto extent = fabric_.memory().regions().add(bytes); // the same at every rank, because all make the same calls
    if (!extent) return tl::unexpected(extent.error());
    if (auto agreed = agree_that(fabric_.memory().prepare(*extent, needed)); !agreed) {
        static_cast<void>(fabric_.memory().regions().remove(extent->begin));
        fabric_.memory().discard(*extent); // this rank may have pinned it
        return tl::unexpected(agreed.error());
    }
    return fabric_.memory().address(*extent);
}

Result<> Collectives::release(void* memory) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    // Earlier puts must not arrive after the memory has been released.
    if (auto* network = fabric_.network()) static_cast<void>(network->flush());
    // An address outside all regions gives a different offset at every rank.
    const std::uint64_t offset =
        fabric_.memory().in_region(memory, 1) ? fabric_.memory().offset(memory) : Board::nowhere;
    if (auto same = announce({static_cast<std::uint32_t>(Kind::release), 0, offset}, {}); !same) return same;
    auto extent = fabric_.memory().regions().remove(offset);
    if (!extent) return tl::unexpected(extent.error());
    if (auto* network = fabric_.network()) network->forget(*extent); // all ranks have come here
    // Each rank gives back its own copy. No rank can use the place before all have done so, because allocate()
    // synchronizes all ranks first.
    fabric_.memory().discard(*extent);
    return {};
}

Result<int> Collectives::add_handler(fabric::Messenger::Handler handler) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return tl::unexpected(admitted.error());
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::add_handler),
                              static_cast<std::uint32_t>(fabric_.messenger().handlers()), 0};
    if (auto same = announce(call, {}); !same) return tl::unexpected(same.error());
    auto number = fabric_.messenger().add(std::move(handler));
    // No rank sends to the handler before all ranks have it.
    if (auto agreed = agree_that(number ? Result<>() : tl::unexpected(number.error())); !agreed) {
        if (number) fabric_.messenger().take_back();
        return tl::unexpected(agreed.error());
    }
    return number;
}

} // namespace kumiki::collective
