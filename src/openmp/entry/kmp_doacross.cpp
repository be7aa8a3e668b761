#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "openmp/entry/kmp.hpp"
#include "openmp/workshare.hpp"

/// Entry points of doacross loops as clang calls them. Unlike gcc, clang begins the dependences and the loop by two
/// calls, of which the first does not say how the iterations will be dealt out; so the threads share one byte for each
/// iteration, which says that it is done.
using namespace kumiki::openmp;
using kmp::Source;

namespace {

/// A dimension of the loop nest; both bounds are inclusive.
struct Dimension {
    std::int64_t lower, upper, step;

    std::uint64_t length() const {
        const auto distance = static_cast<std::uint64_t>(step > 0 ? upper - lower : lower - upper);
        return distance / static_cast<std::uint64_t>(step > 0 ? step : -step) + 1;
    }
    /// The number of the iteration with this value of the loop's variable; false: there is none.
    bool number(std::int64_t value, std::uint64_t& result) const {
        if (step > 0 ? value < lower || value > upper : value > lower || value < upper) return false;
        result = static_cast<std::uint64_t>((value - lower) / step);
        return true;
    }
};

/// A doacross loop in which the thread is.
struct DoacrossLoop {
    std::unique_ptr<DoacrossLoop> outer; ///< around the parallel region in which this one is
    std::vector<Dimension> dimensions;
    Workshare* share;
    std::byte* done;

    /// The byte of an iteration; nullptr: there is no such iteration.
    std::byte* byte_of(const std::int64_t* values) const {
        std::uint64_t flat = 0;
        for (std::size_t i = 0; i < dimensions.size(); ++i) {
            std::uint64_t number = 0;
            if (!dimensions[i].number(values[i], number)) return nullptr;
            flat = flat * dimensions[i].length() + number;
        }
        return done + flat;
    }
};
thread_local std::unique_ptr<DoacrossLoop> the_loop;

} // namespace

KUMIKI_ENTRY void __kmpc_doacross_init(const Source*, std::int32_t, std::int32_t count, const Dimension* dimensions) {
    Member& me = self();
    kmp::settle(me);
    auto loop = std::make_unique<DoacrossLoop>();
    loop->dimensions.assign(dimensions, dimensions + count);
    std::uint64_t iterations = 1;
    for (const Dimension& dimension : loop->dimensions) iterations *= dimension.length();
    void* memory = reinterpret_cast<void*>(iterations);
    enter_share(me, Loop{}, nullptr, &memory); // which begins as zeros
    loop->done = static_cast<std::byte*>(memory);
    loop->share = std::exchange(me.share, nullptr); // the loop itself is another share
    loop->outer = std::move(the_loop);
    the_loop = std::move(loop);
}

KUMIKI_ENTRY void __kmpc_doacross_post(const Source*, std::int32_t, const std::int64_t* iteration) {
    std::byte* const byte = the_loop->byte_of(iteration);
    if (byte == nullptr) return;
    // release: a thread that waits for this iteration sees what this one did before it posted.
    std::atomic_ref(*byte).store(std::byte{1}, std::memory_order_release);
    self().team.ring();
}

KUMIKI_ENTRY void __kmpc_doacross_wait(const Source*, std::int32_t, const std::int64_t* iteration) {
    std::byte* const byte = the_loop->byte_of(iteration);
    if (byte == nullptr) return; // iterations outside of the loop are done
    const Team& team = self().team;
    kumiki::wait::wait(self().team.bell(), team.patience(), [&] {
        return std::atomic_ref(*byte).load(std::memory_order_acquire) != std::byte{0} || team.cancelled() ||
               team.workshare_cancelled();
    });
}

KUMIKI_ENTRY void __kmpc_doacross_fini(const Source*, std::int32_t) {
    Member& me = self();
    kmp::settle(me);
    std::unique_ptr<DoacrossLoop> loop = std::move(the_loop);
    the_loop = std::move(loop->outer);
    me.share = loop->share;
    leave_share(me);
}
