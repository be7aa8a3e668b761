#include <cstring>
#include <fmt/format.h>

#include "collective/combine.hpp"
#include "team/team.hpp"

namespace kumiki::team {

using collective::combine;

Result<> Team::reduce(int thread, void* data, std::size_t count, kumiki_type type, kumiki_operation operation) {
    const std::size_t element = collective::element_bytes(type);
    if (element == 0 || !collective::is_operation(operation) || (data == nullptr && count > 0)) {
        break_up(thread); // the siblings come with the same arguments or not at all
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("team reduce: no such type ({}) or operation ({}), or a null address", static_cast<int>(type),
                                                       static_cast<int>(operation)));
    }
    if (threads_ == 1 || count == 0) return {};
    const std::size_t bytes = count * element;
    return bytes <= Slot::capacity ? reduce_small(thread, data, count, bytes, type, operation)
                                   : reduce_large(thread, data, count, element, type, operation);
}

/// Each shows its value, and after the barrier each combines all, in the order of threads.
Result<> Team::reduce_small(int thread, void* data, std::size_t count, std::size_t bytes, kumiki_type type, kumiki_operation operation) {
    const std::size_t turn = slot(thread).turn ^= 1;
    std::memcpy(slot(thread).value[turn].data(), data, bytes);
    if (auto met = barrier(thread); !met) return met;
    std::memcpy(data, slot(0).value[turn].data(), bytes);
    for (int other = 1; other < threads_; ++other) combine(data, slot(other).value[turn].data(), count, type, operation);
    return {};
}

/// Each combines its part of the elements in thread 0's data and hands it to all: nobody touches another's part.
Result<> Team::reduce_large(int thread, void* data, std::size_t count, std::size_t element, kumiki_type type, kumiki_operation operation) {
    slot(thread).data = data;
    if (auto met = barrier(thread); !met) return met;
    std::size_t begin = 0, end = 0;
    kumiki_part(count, threads_, thread, &begin, &end);
    const auto part = [&](int of) { return static_cast<std::byte*>(slot(of).data) + begin * element; };
    for (int other = 1; other < threads_; ++other) combine(part(0), part(other), end - begin, type, operation);
    for (int other = 1; other < threads_; ++other) std::memcpy(part(other), part(0), (end - begin) * element);
    return barrier(thread);
}

Result<> Team::reduce_all(int thread, void* data, std::size_t count, kumiki_type type, kumiki_operation operation) {
    if (auto reduced = reduce(thread, data, count, type, operation); !reduced || fabric_.size() == 1) return reduced;
    Slot& master = slot(0);
    if (thread == 0) {
        master.outcome = collectives_.reduce(data, data, count, type, operation, collective::Collectives::every_rank);
        master.data = data;
    }
    if (threads_ == 1) return master.outcome;
    if (auto met = barrier(thread); !met) return met;
    if (master.outcome && thread != 0 && count > 0) std::memcpy(data, master.data, count * collective::element_bytes(type));
    // Thread 0's own variable was read: it may not go on before all have.
    const Result<> outcome = master.outcome;
    if (auto met = barrier(thread); !met) return met;
    return outcome;
}

} // namespace kumiki::team
