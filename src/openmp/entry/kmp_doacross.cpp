#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "openmp/entry/kmp.hpp"
#include "openmp/workshare.hpp"

/// Entry points of doacross loops as clang calls them. Unlike gcc, clang begins the dependences and the loop by two
/// calls, of which the first does not say how the iterations will be dealt out; so the threads share one byte for each
/// iteration, or over several ranks one word, which says that it is done.
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
    OtherRanks* others; ///< null: `done` has bytes, else words
    void* done;

    /// The number of an iteration; nothing: there is no such iteration.
    std::optional<std::uint64_t> number_of(const std::int64_t* values) const {
        std::uint64_t flat = 0;
        for (std::size_t i = 0; i < dimensions.size(); ++i) {
            std::uint64_t number = 0;
            if (!dimensions[i].number(values[i], number)) return {};
            flat = flat * dimensions[i].length() + number;
        }
        return flat;
    }
    std::atomic_ref<unsigned char> byte(std::uint64_t number) const {
        return std::atomic_ref(static_cast<unsigned char*>(done)[number]);
    }
    std::uint64_t& word(std::uint64_t number) const { return static_cast<std::uint64_t*>(done)[number]; }
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
    loop->others = me.team.others();
    void* memory = reinterpret_cast<void*>(iterations * (loop->others != nullptr ? sizeof(std::uint64_t) : 1));
    enter_share(me, Loop{}, nullptr, &memory); // which begins as zeros
    loop->done = memory;
    loop->share = std::exchange(me.share, nullptr); // the loop itself is another share
    loop->outer = std::move(the_loop);
    the_loop = std::move(loop);
}

KUMIKI_ENTRY void __kmpc_doacross_post(const Source*, std::int32_t, const std::int64_t* iteration) {
    const auto number = the_loop->number_of(iteration);
    if (!number) return;
    if (the_loop->others != nullptr) return the_loop->others->post(the_loop->word(*number), 1);
    // release: a thread that waits for this iteration sees what this one did before it posted.
    the_loop->byte(*number).store(1, std::memory_order_release);
    self().team.ring();
}

KUMIKI_ENTRY void __kmpc_doacross_wait(const Source*, std::int32_t, const std::int64_t* iteration) {
    const auto number = the_loop->number_of(iteration);
    if (!number) return; // iterations outside of the loop are done
    if (the_loop->others != nullptr) return the_loop->others->await(the_loop->word(*number), 1);
    const Team& team = self().team;
    kumiki::wait::wait(self().team.bell(), team.patience(), [&] {
        return the_loop->byte(*number).load(std::memory_order_acquire) != 0 || team.cancelled() ||
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
