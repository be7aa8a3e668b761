#pragma once

#include <cstddef>

#include "kumiki/types.h"

namespace kumiki::collective {

/// The length of one element in bytes; 0 if there is no such type.
std::size_t element_bytes(kumiki_type type);

/// into[i] := into[i] (operation) from[i] for `count` elements. The type and the operation must exist, and the arrays
/// must be identical or not overlap.
void combine(void* into, const void* from, std::size_t count, kumiki_type type, kumiki_operation operation);

bool is_operation(kumiki_operation operation);

} // namespace kumiki::collective
