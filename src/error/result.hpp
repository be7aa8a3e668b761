#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "kumiki/status.h"

namespace kumiki {

/// A failure inside the library: its category, and the sentence that the user will read. The first function that knows
/// the cause formulates it: what happened, to which rank, address or file, and the remedy.
struct Failure {
    kumiki_status status;
    std::string message;
};

template <class T = void>
using Result = tl::expected<T, Failure>;

/// `return fail(KUMIKI_ERROR_ARGUMENT, "...")` from any function that returns a Result.
inline tl::unexpected<Failure> fail(kumiki_status status, std::string message) {
    return tl::unexpected<Failure>(Failure{status, std::move(message)});
}

} // namespace kumiki
