#pragma once

#include <stdexcept>
#include <string>

#include "kumiki/kumiki.h"

namespace kumiki {

/// What went wrong, in a sentence (`what()`), and whose fault it was (`status()`).
class Error : public std::runtime_error {
public:
    Error(kumiki_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
    kumiki_status status() const noexcept { return status_; }

private:
    kumiki_status status_;
};

namespace detail {

/// Turns a code of the C interface into an exception.
inline void check(kumiki_status status) {
    if (status != KUMIKI_OK) [[unlikely]]
        throw Error(status, kumiki_error_message());
}

} // namespace detail
} // namespace kumiki
