#include "dsm/shape.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kumiki::dsm {

using Dimension = Distribution::Dimension;

Shape Shape::of_bytes(std::size_t bytes) {
    Shape shape;
    shape.distribution.dimensions = {{.how = Dimension::How::whole, .extent = bytes}};
    return shape;
}

Result<Shape> Shape::of(std::size_t element, std::vector<Dimension> dimensions) {
    std::size_t bytes = element;
    bool fits = true;
    for (const Dimension& each : dimensions)
        if (__builtin_mul_overflow(bytes, each.extent, &bytes)) fits = false;
    const bool any = element != 0 && !dimensions.empty() &&
                     std::ranges::none_of(dimensions, [](const Dimension& each) { return each.extent == 0; });
    if (!any)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    "a shared array needs at least one byte: one dimension or more, none of length 0, of elements that "
                    "are not empty");
    if (!fits) return fail(KUMIKI_ERROR_ARGUMENT, "the dimensions of the shared array do not fit the address space");
    Shape shape{.element = element, .distribution = {}};
    const bool dealt =
        std::ranges::any_of(dimensions, [](const Dimension& each) { return each.how != Dimension::How::whole; });
    shape.distribution.kind = dealt ? Distribution::Kind::parts : Distribution::Kind::first;
    shape.distribution.dimensions = std::move(dimensions);
    return shape;
}

std::size_t Shape::stride(std::size_t dimension) const {
    std::size_t bytes = element;
    for (std::size_t each = dimension + 1; each < dimensions(); ++each) bytes *= extent(each);
    return bytes;
}

std::uint64_t Shape::fingerprint() const {
    std::uint64_t hash = element;
    const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15; };
    for (const Dimension& each : distribution.dimensions) {
        add(each.extent);
        add(static_cast<std::uint64_t>(each.how));
        add(each.length);
    }
    return hash >> 32;
}

Result<> Shape::fits_pages(std::size_t page_bytes, int ranks) const {
    for (std::size_t dimension = 1; dimension < dimensions(); ++dimension) {
        if (!is_dealt(dimension)) continue;
        const std::size_t part = distribution.part_length(dimension, ranks) * stride(dimension);
        const std::size_t all = extent(dimension) * stride(dimension);
        if (part % page_bytes == 0 && all % page_bytes == 0) continue;
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("dimension {} of the shared array cannot be dealt to {} ranks: its parts are {} of {} "
                                "bytes, and not whole pages of {} bytes; deal an earlier dimension, or make this one "
                                "longer",
                                dimension, ranks, part, all, page_bytes));
    }
    return {};
}

} // namespace kumiki::dsm
