#include <algorithm>

#include "openmp/entry/deal.hpp"
#include "openmp/entry/kmp_task.hpp"

/// The entry points of taskloop constructs as clang calls them: the program makes one task as a pattern, of which each
/// task of the loop is a copy with its own bounds.
using namespace kumiki::openmp;
using kmp::Source;

namespace {

enum Wanted : int { nothing = 0, grain = 1, number = 2 };

/// Copies the task's own variables as their type demands, and tells the task whether it has the last iteration.
using Duplicate = void (*)(kmp::Task* to, kmp::Task* from, std::int32_t has_last);

std::uint64_t iterations(std::uint64_t first, std::uint64_t last, std::int64_t step) {
    if (step > 0) return (last - first) / static_cast<std::uint64_t>(step) + 1;
    return (first - last) / (0 - static_cast<std::uint64_t>(step)) + 1;
}

void taskloop(kmp::Task* pattern, bool deferrable, std::uint64_t* first, const std::uint64_t* last, std::int64_t step,
              const Deal& deal, std::uint64_t count, Duplicate duplicate) {
    const auto place_of_first = reinterpret_cast<std::byte*>(first) - reinterpret_cast<std::byte*>(pattern);
    const auto place_of_last = reinterpret_cast<const std::byte*>(last) - reinterpret_cast<const std::byte*>(pattern);
    const auto by = static_cast<std::uint64_t>(step);
    std::uint64_t begin = 0;
    for (std::uint64_t i = 0; i < deal.tasks; ++i) {
        const std::uint64_t end = deal.end(i, begin, count);
        kmp::Task* const task = kmp::copy_of(pattern);
        auto* const bytes = reinterpret_cast<std::byte*>(task);
        *reinterpret_cast<std::uint64_t*>(bytes + place_of_first) = *first + begin * by;
        *reinterpret_cast<std::uint64_t*>(bytes + place_of_last) = *first + (end - 1) * by;
        if (duplicate != nullptr) duplicate(task, pattern, end == count ? 1 : 0);
        kmp::start(task, !deferrable);
        begin = end;
    }
}

} // namespace

KUMIKI_ENTRY void __kmpc_taskgroup(const Source*, std::int32_t);
KUMIKI_ENTRY void __kmpc_end_taskgroup(const Source*, std::int32_t);

KUMIKI_ENTRY void __kmpc_taskloop_5(const Source* source, std::int32_t gtid, kmp::Task* pattern, std::int32_t condition,
                                    std::uint64_t* first, std::uint64_t* last, std::int64_t step, std::int32_t no_group,
                                    std::int32_t wanted, std::uint64_t amount, std::int32_t strict,
                                    Duplicate duplicate) {
    if (no_group == 0) __kmpc_taskgroup(source, gtid);
    const std::uint64_t count = iterations(*first, *last, step);
    if (count != 0) {
        const Deal deal = deal_out(count, {.grain = wanted == grain, .strict = strict != 0},
                                   wanted == nothing ? 0 : std::max<std::uint64_t>(amount, 1), self().team.size());
        taskloop(pattern, condition != 0, first, last, step, deal, count, duplicate);
    }
    kmp::dispose(pattern);
    if (no_group == 0) __kmpc_end_taskgroup(source, gtid);
}
KUMIKI_ENTRY void __kmpc_taskloop(const Source* source, std::int32_t gtid, kmp::Task* pattern, std::int32_t condition,
                                  std::uint64_t* first, std::uint64_t* last, std::int64_t step, std::int32_t no_group,
                                  std::int32_t wanted, std::uint64_t amount, Duplicate duplicate) {
    __kmpc_taskloop_5(source, gtid, pattern, condition, first, last, step, no_group, wanted, amount, 0, duplicate);
}
