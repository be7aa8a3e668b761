#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>

#include "collective/collectives.hpp"
#include "collective/combine.hpp"

namespace kumiki::collective {

using fabric::shm::Contribution;

Result<> Collectives::check_reduction(const void* input, const void* output, std::size_t count, kumiki_type type,
                                      kumiki_operation operation, int root) const {
    if (root != every_rank && !fabric_.has_rank(root))
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("reduce: there is no rank {}; the job has ranks 0 to {}", root, fabric_.size() - 1));
    if (element_bytes(type) == 0)
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("reduce: there is no type {}", static_cast<int>(type)));
    if (!is_operation(operation))
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("reduce: there is no operation {}", static_cast<int>(operation)));
    if (count > SIZE_MAX / element_bytes(type))
        return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("reduce: {} elements are more than there are addresses", count));
    const bool wants_result = root == every_rank || root == fabric_.rank();
    if (count > 0 && (input == nullptr || (output == nullptr && wants_result)))
        return fail(KUMIKI_ERROR_ARGUMENT, "reduce: the address of the input or output is null");
    return {};
}

Result<> Collectives::reduce(const void* input, void* output, std::size_t count, kumiki_type type,
                             kumiki_operation operation, int root) {
    const Turn turn(*this);
    if (auto granted = turn.granted(); !granted) return granted;
    const std::size_t element = element_bytes(type);
    const std::size_t bytes = count * element;
    const auto detail = static_cast<std::uint32_t>(root) << 8 | static_cast<std::uint32_t>(type << 4 | operation);
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::reduce), detail, bytes};
    if (auto checked = check_reduction(input, output, count, type, operation, root); !checked) return refuse(checked);
    if (bytes <= Contribution::capacity && has_lines())
        return reduce_small(call, input, output, count, type, operation, root);

    const std::size_t per_chunk = Board::capacity / element;
    const auto* from = static_cast<const std::byte*>(input);
    auto* into = static_cast<std::byte*>(output);
    for (std::size_t begin = 0; begin == 0 || begin < count; begin += per_chunk) {
        const std::size_t length = std::min(per_chunk, count - begin);
        const std::span data(from + begin * element, length * element);
        if (begin > 0) publish(data);
        else if (auto same = announce(call, data); !same) return same;
        reduce_chunk(into == nullptr ? nullptr : into + begin * element, length, type, operation, root);
    }
    return {};
}

/// The contributions travel with the announcement, in its cache lines.
Result<> Collectives::reduce_small(const CollectiveCall& call, const void* input, void* output, std::size_t count,
                                   kumiki_type type, kumiki_operation operation, int root) {
    turn_ ^= 1; // as every collective does, also one that another rank takes this for
    const std::span own(static_cast<const std::byte*>(input), call.bytes);
    std::array<std::byte, Contribution::capacity> result;
    const auto same = exchange(call, own, [&](int rank, const std::byte* payload) {
        if (rank > 0) combine(result.data(), payload, count, type, operation);
        else if (count > 0) std::memcpy(result.data(), payload, call.bytes);
    });
    const bool wants_result = root == every_rank || root == fabric_.rank();
    if (same && wants_result && count > 0) std::memcpy(output, result.data(), call.bytes);
    return same;
}

/// Every rank combines its share of the chunk in place on its own board (nobody else reads that share there), then all
/// collect the shares.
void Collectives::reduce_chunk(void* output, std::size_t count, kumiki_type type, kumiki_operation operation,
                               int root) {
    const std::size_t element = element_bytes(type);
    struct Share {
        std::size_t offset, count;
    };
    const auto share = [&](int rank) {
        std::size_t begin = 0, end = 0;
        kumiki_part(count, fabric_.size(), rank, &begin, &end);
        return Share{begin * element, end - begin};
    };
    const Share mine = share(fabric_.rank());
    std::byte* const own = published(fabric_.rank()) + mine.offset;
    std::vector<std::byte> combined(mine.count * element);
    if (!combined.empty()) std::memcpy(combined.data(), published(0) + mine.offset, combined.size());
    for (int rank = 1; rank < fabric_.size(); ++rank)
        combine(combined.data(), published(rank) + mine.offset, mine.count, type, operation);
    if (!combined.empty()) std::memcpy(own, combined.data(), combined.size());
    barrier_.meet();
    if (root != every_rank && root != fabric_.rank()) return;
    for (int rank = 0; rank < fabric_.size() && count > 0; ++rank)
        std::memcpy(static_cast<std::byte*>(output) + share(rank).offset, published(rank) + share(rank).offset,
                    share(rank).count * element);
}

/// All-reduce by maximum, for the library's own agreements; the caller holds the turn.
Result<> Collectives::largest(std::span<std::uint64_t> values) {
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::agreement), 0, values.size_bytes()};
    if (auto same = announce(call, std::as_bytes(values)); !same) return same;
    for (int rank = 0; rank < fabric_.size(); ++rank)
        combine(values.data(), published(rank), values.size(), KUMIKI_UINT64, KUMIKI_MAX);
    return {};
}

} // namespace kumiki::collective
