#pragma once

#include <cstddef>
#include <cstdint>

#include "error/result.hpp"
#include "settings/distribution.hpp"

namespace kumiki::dsm {

/// The elements of an array: their length and their dimensions, the last one the densest, some of which may be dealt to
/// the ranks. Otherwise the homes of its pages do not follow from the dimensions.
struct Shape {
    std::size_t element = 1;   ///< bytes
    Distribution distribution; ///< of the kind `parts` if a dimension is dealt

    static Shape of_bytes(std::size_t bytes);
    /// Fails with a sentence unless there are elements, and as many as can be addressed.
    static Result<Shape> of(std::size_t element, std::vector<Distribution::Dimension> dimensions);

    std::size_t dimensions() const { return distribution.dimensions.size(); }
    std::size_t extent(std::size_t dimension) const { return distribution.dimensions[dimension].extent; }
    bool is_dealt() const { return distribution.kind == Distribution::Kind::parts; }
    bool is_dealt(std::size_t dimension) const {
        return distribution.dimensions[dimension].how != Distribution::Dimension::How::whole;
    }
    std::size_t bytes() const { return element * distribution.elements(); }
    /// Bytes from an element to the next one in this dimension.
    std::size_t stride(std::size_t dimension) const;
    /// The same for equal shapes only, nearly always; 32 bits.
    std::uint64_t fingerprint() const;
    /// Fails unless the parts of this rank's pages are those of its elements: a dimension after the first one is dealt
    /// in whole pages.
    Result<> fits_pages(std::size_t page_bytes, int ranks) const;
};

} // namespace kumiki::dsm
