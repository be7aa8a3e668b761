// Which indexes of an array's dimensions are this rank's, by the homes of its pages (the paper's affinity schedule).
#include <algorithm>
#include <fmt/format.h>

#include "dsm/shared_memory.hpp"

namespace kumiki::dsm {

Result<SharedMemory::IndexRun> SharedMemory::own(const void* address, std::size_t dimension, std::size_t from) {
    const std::lock_guard lock(mutex_);
    const auto found = array_of(address);
    if (!found) return tl::unexpected(found.error());
    const Array& array = **found;
    const Shape& shape = array.shape;
    if (dimension >= shape.dimensions())
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("the shared array has {} dimensions, so there is no dimension {}", shape.dimensions(),
                                dimension));
    const std::size_t count = shape.extent(dimension);
    const bool follows_homes = shape.is_dealt() ? shape.is_dealt(dimension) : dimension == 0;
    if (!follows_homes) return IndexRun{std::min(from, count), count};
    const auto line = own_line(array, dimension);
    if (!line) return IndexRun{count, count};
    const std::size_t stride = shape.stride(dimension), page_bytes = array.layout.page_bytes;
    std::size_t begin = count;
    for (std::size_t index = from; index < count;) {
        const std::size_t page = (*line + index * stride) / page_bytes;
        const bool own = standing_home(array, page) == fabric_.rank();
        if (own && begin == count) begin = index;
        if (!own && begin != count) return IndexRun{begin, index};
        // The next index that is in another page.
        index = std::max(index + 1, ((page + 1) * page_bytes - *line + stride - 1) / stride);
    }
    return IndexRun{begin, count};
}

/// Where the elements begin whose homes decide about a dimension: where its index and those of whole dimensions are 0,
/// and the others are those of this rank's first page, because several ranks share each index of a dimension there.
/// Nothing: this rank has no page.
std::optional<std::size_t> SharedMemory::own_line(const Array& array, std::size_t dimension) const {
    const Shape& shape = array.shape;
    const auto decides = [&](std::size_t each) { return each != dimension && shape.is_dealt(each); };
    bool alone = true;
    for (std::size_t each = 0; each < shape.dimensions(); ++each) alone = alone && !decides(each);
    if (alone) return 0;
    std::size_t page = 0;
    while (page < array.layout.pages && standing_home(array, page) != fabric_.rank()) ++page;
    if (page == array.layout.pages) return std::nullopt;
    std::size_t line = 0;
    for (std::size_t each = 0; each < shape.dimensions(); ++each)
        if (const std::size_t stride = shape.stride(each); decides(each))
            line += page * array.layout.page_bytes / stride % shape.extent(each) * stride;
    return line;
}

} // namespace kumiki::dsm
