#include <algorithm>

#include "kumiki/kumiki.h"

// The first `count % parts` parts get one more element than the others.
extern "C" void kumiki_part(size_t count, int parts, int index, size_t* begin, size_t* end) {
    if (parts < 1 || index < 0 || index >= parts) {
        *begin = *end = 0;
        return;
    }
    const auto divisor = static_cast<size_t>(parts), at = static_cast<size_t>(index);
    const size_t each = count / divisor, extra = count % divisor;
    *begin = at * each + std::min(at, extra);
    *end = *begin + each + (at < extra ? 1 : 0);
}
