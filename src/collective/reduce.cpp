#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>

#include "collective/collectives.hpp"
#include "collective/combine.hpp"
#include "kumiki/kumiki.h"

namespace kumiki::collective {

using fabric::shm::Contribution;

Result<> Collectives::check_reduction(const char* name, const void* input, const void* output, std::size_t count,
                                      kumiki_type type, kumiki_operation operation, int root) const {
    const auto wrong = [name](const std::string& what) {
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{}: {}", name, what));
    };
    if (root != every_rank && !group_.has_rank(root)) return no_such_root(name, root);
    if (element_bytes(type) == 0) return wrong(fmt::format("there is no type {}", static_cast<int>(type)));
    if (!is_operation(operation)) return wrong(fmt::format("there is no operation {}", static_cast<int>(operation)));
    if (count > SIZE_MAX / element_bytes(type))
        return wrong(fmt::format("{} elements are more than there are addresses", count));
    const bool wants_result = root == every_rank || root == group_.rank();
    if (count > 0 && (input == nullptr || (output == nullptr && wants_result)))
        return wrong("the address of the input or output is null");
    return {};
}

Result<> Collectives::reduce(const void* input, void* output, std::size_t count, kumiki_type type,
                             kumiki_operation operation, int root) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    const std::size_t element = element_bytes(type);
    const std::size_t bytes = count * element;
    const Kind kind = root == every_rank ? Kind::all_reduce : Kind::reduce;
    const auto at = root == every_rank ? 0 : static_cast<std::uint32_t>(root);
    const CollectiveCall call{static_cast<std::uint32_t>(kind),
                              at << 8 | static_cast<std::uint32_t>(type << 4 | operation), bytes};
    if (auto checked = check_reduction(name(kind), input, output, count, type, operation, root); !checked)
        return refuse_inside(checked);
    if (bytes <= Contribution::capacity && (has_lines() || !one_host()))
        return reduce_small(call, input, output, count, type, operation, root);

    if (!one_host()) {
        if (auto same = announce(call, {}); !same) return same;
        const bool wants_result = root == every_rank || root == group_.rank();
        return reduce_over_hosts(input, wants_result ? output : nullptr, count, type, operation);
    }
    const std::size_t per_chunk = Board::capacity / element;
    const auto* from = static_cast<const std::byte*>(input);
    auto* into = static_cast<std::byte*>(output);
    for (std::size_t begin = 0; begin == 0 || begin < count; begin += per_chunk) {
        const std::size_t length = std::min(per_chunk, count - begin);
        const std::span data(from + begin * element, length * element);
        if (begin > 0) publish(data);
        else if (auto same = announce(call, data); !same) return same;
        reduce_chunk(into == nullptr ? nullptr : into + begin * element, length, type, operation,
                     root == every_rank || root == group_.rank());
    }
    return {};
}

/// A value that is short enough travels with the announcement.
Result<> Collectives::reduce_small(const CollectiveCall& call, const void* input, void* output, std::size_t count,
                                   kumiki_type type, kumiki_operation operation, int root) {
    const Combine combine_values = [=](std::byte* into, const std::byte* other) {
        combine(into, other, count, type, operation);
    };
    std::array<std::byte, Contribution::capacity> result;
    const auto same =
        combine_small(call, {static_cast<const std::byte*>(input), call.bytes}, result.data(), combine_values);
    const bool wants_result = root == every_rank || root == group_.rank();
    if (same && wants_result && count > 0) std::memcpy(output, result.data(), call.bytes);
    return same;
}

/// Combines in the order of ranks on each host, then in the order of hosts, so the bits are the same everywhere.
Result<> Collectives::combine_small(const CollectiveCall& call, std::span<const std::byte> own, std::byte* result,
                                    const Combine& combine) {
    const auto take = [&](int local, const std::byte* payload) {
        if (local > 0) combine(result, payload);
        else if (!own.empty()) std::memcpy(result, payload, own.size());
    };
    calls_.begin(CallLog::Place::exchange);
    turn_ ^= 1; // every collective does this, so ranks that differ by mistake stay in step
    Result<> here;
    if (has_lines()) {
        here = exchange(call, own, take);
    } else {
        Board& mine = group_.own().board;
        mine.notice[turn_] = {call, Board::nowhere};
        if (!own.empty()) std::memcpy(mine.data[turn_].data(), own.data(), own.size());
        here = compare(call);
        for (int local = 0; local < group_.host_size(); ++local) take(local, published(local));
    }
    return over_hosts(call, here, {result, own.size()}, combine);
}

/// Every rank combines its share of the chunk in place on its own board (no other rank reads that share there); then
/// all ranks collect the shares.
void Collectives::reduce_chunk(void* output, std::size_t count, kumiki_type type, kumiki_operation operation,
                               bool wants_result) {
    const std::size_t element = element_bytes(type);
    struct Share {
        std::size_t offset, count;
    };
    const auto share = [&](int local) {
        std::size_t begin = 0, end = 0;
        kumiki_part(count, group_.host_size(), local, &begin, &end);
        return Share{begin * element, end - begin};
    };
    const Share mine = share(group_.host_rank());
    std::byte* const own = published(group_.host_rank()) + mine.offset;
    std::vector<std::byte> combined(mine.count * element);
    if (!combined.empty()) std::memcpy(combined.data(), published(0) + mine.offset, combined.size());
    for (int local = 1; local < group_.host_size(); ++local)
        combine(combined.data(), published(local) + mine.offset, mine.count, type, operation);
    if (!combined.empty()) std::memcpy(own, combined.data(), combined.size());
    barrier_.meet_host();
    if (!wants_result) return;
    for (int local = 0; local < group_.host_size() && count > 0; ++local)
        std::memcpy(static_cast<std::byte*>(output) + share(local).offset, published(local) + share(local).offset,
                    share(local).count * element);
}

/// All-reduce by maximum, for agreements within the library; the caller holds the guard.
Result<> Collectives::largest(std::span<std::uint64_t> values) {
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::agreement), 0, values.size_bytes()};
    std::array<std::byte, Contribution::capacity> result;
    const auto same =
        combine_small(call, std::as_bytes(values), result.data(), [&](std::byte* into, const std::byte* other) {
            combine(into, other, values.size(), KUMIKI_UINT64, KUMIKI_MAX);
        });
    if (same) std::memcpy(values.data(), result.data(), values.size_bytes());
    return same;
}

} // namespace kumiki::collective
