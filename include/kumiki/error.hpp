#pragma once

#include <stdexcept>
#include <string>

#include "kumiki/kumiki.h"

namespace kumiki {

/// A failure: `what()` describes it in a sentence, `status()` gives its category.
class Error : public std::runtime_error {
public:
    Error(kumiki_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
    kumiki_status status() const noexcept { return status_; }

private:
    kumiki_status status_;
};

namespace detail {

/// Throws an Error for a failure code of the C interface.
inline void check(kumiki_status status) {
    if (status != KUMIKI_OK) [[unlikely]]
        throw Error(status, kumiki_error_message());
}

} // namespace detail
} // namespace kumiki
