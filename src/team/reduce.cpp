#include <cstdint>
#include <cstring>
#include <fmt/format.h>

#include "collective/combine.hpp"
#include "kumiki/kumiki.h"
#include "team/team.hpp"

namespace kumiki::team {

using collective::combine;

namespace {

Result<> check_reduction(const void* data, std::size_t count, kumiki_type type, kumiki_operation operation) {
    const std::size_t element = collective::element_bytes(type);
    if (element == 0 || !collective::is_operation(operation) || (data == nullptr && count > 0))
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("team reduce: no such type ({}) or operation ({}), or a null address",
                                static_cast<int>(type), static_cast<int>(operation)));
    if (count > SIZE_MAX / element)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("team reduce: {} elements are more than there are addresses", count));
    return {};
}

} // namespace

/// Each thread publishes its call and, if it is short, its value. After the barrier each thread compares the calls and
/// combines the values in the order of threads.
Result<> Team::reduce(int thread, void* data, std::size_t count, kumiki_type type, kumiki_operation operation) {
    const std::size_t element = collective::element_bytes(type);
    const Result<> checked = check_reduction(data, count, type, operation);
    if (threads_ == 1) return checked;
    const std::size_t bytes = count * element;
    const std::size_t turn = slot(thread).turn ^= 1;
    Slot::Shown& mine = slot(thread).shown[turn];
    // A thread whose call is refused nevertheless takes part, with a call that no valid call equals: otherwise the
    // other threads would wait for it, or use its value.
    mine.call = {checked ? count : SIZE_MAX, type, operation};
    mine.data = data;
    if (checked && bytes > 0 && bytes <= Slot::capacity) std::memcpy(mine.value.data(), data, bytes);
    if (auto met = barrier(thread); !met) return met;
    if (!checked) return checked;
    for (int other = 0; other < threads_; ++other)
        if (slot(other).shown[turn].call != mine.call)
            return fail(
                KUMIKI_ERROR_ARGUMENT,
                fmt::format(
                    "team reduce: thread {} came with {} elements and thread {} with {}, or with another type or "
                    "operation; all threads must call it with the same",
                    thread, count, other, slot(other).shown[turn].call.count));
    if (bytes > Slot::capacity) return reduce_large(thread, turn, element);
    if (bytes == 0) return {};
    std::memcpy(data, slot(0).shown[turn].value.data(), bytes);
    for (int other = 1; other < threads_; ++other)
        combine(data, slot(other).shown[turn].value.data(), count, type, operation);
    return {};
}

/// Each thread combines its part of the elements in thread 0's data and copies the result to all threads: no two
/// threads write the same elements.
Result<> Team::reduce_large(int thread, std::size_t turn, std::size_t element) {
    const Slot::Call call = slot(thread).shown[turn].call;
    std::size_t begin = 0, end = 0;
    kumiki_part(call.count, threads_, thread, &begin, &end);
    const auto part = [&](int of) { return static_cast<std::byte*>(slot(of).shown[turn].data) + begin * element; };
    for (int other = 1; other < threads_; ++other)
        combine(part(0), part(other), end - begin, call.type, call.operation);
    for (int other = 1; other < threads_; ++other) std::memcpy(part(other), part(0), (end - begin) * element);
    return barrier(thread);
}

Result<> Team::reduce_all(int thread, void* data, std::size_t count, kumiki_type type, kumiki_operation operation) {
    if (auto reduced = reduce(thread, data, count, type, operation); !reduced || fabric_.size() == 1) {
        // Wrong arguments are an error at every thread of this rank. The other ranks, which wait for it, get one, too.
        const bool tells = !reduced && reduced.error().status == KUMIKI_ERROR_ARGUMENT && fabric_.size() > 1;
        return tells && thread == 0 ? collectives_.refuse(reduced) : reduced;
    }
    Slot& master = slot(0);
    if (thread == 0) {
        master.outcome = collectives_.reduce(data, data, count, type, operation, collective::Collectives::every_rank);
        master.result = data;
    }
    if (threads_ == 1) return master.outcome;
    if (auto met = barrier(thread); !met) return met;
    if (master.outcome && thread != 0 && count > 0)
        std::memcpy(data, master.result, count * collective::element_bytes(type));
    // The other threads read thread 0's own variable, so thread 0 must not continue before all of them have done so.
    const Result<> outcome = master.outcome;
    if (auto met = barrier(thread); !met) return met;
    return outcome;
}

} // namespace kumiki::team
