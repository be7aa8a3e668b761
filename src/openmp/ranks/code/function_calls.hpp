#pragma once

#include <map>
#include <optional>
#include <vector>

#include "openmp/ranks/memory/image.hpp"

namespace kumiki::openmp {

/// Who calls the functions of an image, as far as that can be read in it.
class FunctionCalls {
public:
    /// The image must outlive it.
    explicit FunctionCalls(const Image& image) : image_(image) {}

    using Calls = std::optional<std::vector<std::byte*>>;
    /// The instructions that call the function of which this instruction is a part. Nothing: others may call it, too,
    /// because it has a name for other objects, or its address is used in another way; or its begin is not known, or
    /// nothing calls it.
    const Calls& of(const std::byte* instruction);

private:
    Calls search(const std::byte* function) const;
    bool has_pointer_to(const std::byte* function) const;

    const Image& image_;
    std::map<const std::byte*, Calls> known_; ///< by the begin of the function; null: not known
};

} // namespace kumiki::openmp
