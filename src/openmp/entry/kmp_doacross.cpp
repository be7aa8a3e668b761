#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "openmp/entry/kmp.hpp"
#include "openmp/workshare.hpp"

/// Entry points of doacross loops as clang calls them. Unlike gcc, clang begins the dependences and the loop by two
/// calls, of which the first does not say how the iterations will be dealt out.
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
    std::vector<std::uint64_t> numbers; ///< of the iteration that was named last
    Workshare* share;

    /// The numbers of an iteration; null: there is no such iteration.
    const std::uint64_t* numbers_of(const std::int64_t* values) {
        for (std::size_t i = 0; i < dimensions.size(); ++i)
            if (!dimensions[i].number(values[i], numbers[i])) return nullptr;
        return numbers.data();
    }
};
thread_local std::unique_ptr<DoacrossLoop> the_loop;

} // namespace

KUMIKI_ENTRY void __kmpc_doacross_init(const Source*, std::int32_t, std::int32_t count, const Dimension* dimensions) {
    Member& me = self();
    kmp::settle(me);
    auto loop = std::make_unique<DoacrossLoop>();
    loop->dimensions.assign(dimensions, dimensions + count);
    std::vector<std::uint64_t> counts;
    for (const Dimension& dimension : loop->dimensions) counts.push_back(dimension.length());
    loop->numbers.resize(counts.size());
    constexpr std::uint64_t unknown = 0;
    enter_doacross(me, Loop{}, std::move(counts), unknown);
    loop->share = std::exchange(me.share, nullptr); // the loop itself is another share
    loop->outer = std::move(the_loop);
    the_loop = std::move(loop);
}

KUMIKI_ENTRY void __kmpc_doacross_post(const Source*, std::int32_t, const std::int64_t* iteration) {
    if (const auto* numbers = the_loop->numbers_of(iteration)) the_loop->share->doacross->post(self(), numbers);
}

/// Iterations outside of the loop are done.
KUMIKI_ENTRY void __kmpc_doacross_wait(const Source*, std::int32_t, const std::int64_t* iteration) {
    if (const auto* numbers = the_loop->numbers_of(iteration))
        the_loop->share->doacross->await(self(), [&numbers] { return *numbers++; });
}

KUMIKI_ENTRY void __kmpc_doacross_fini(const Source*, std::int32_t) {
    Member& me = self();
    kmp::settle(me);
    std::unique_ptr<DoacrossLoop> loop = std::move(the_loop);
    the_loop = std::move(loop->outer);
    me.share = loop->share;
    leave_share(me);
}
