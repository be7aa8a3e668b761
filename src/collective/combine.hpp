#pragma once

#include <cstddef>

#include "kumiki/kumiki.h"

namespace kumiki::collective {

/// Bytes of one element; 0 when there is no such type.
std::size_t element_bytes(kumiki_type type);

/// into[i] := into[i] (operation) from[i] for `count` elements; type and operation exist, the arrays are the same or
/// apart.
void combine(void* into, const void* from, std::size_t count, kumiki_type type, kumiki_operation operation);

bool is_operation(kumiki_operation operation);

} // namespace kumiki::collective
