#include "platform/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace kumiki::platform {

Result<> write_standard_output(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT, std::string("standard output cannot be written (") + std::strerror(errno) +
                                              "); make room there, or name another place");
}

} // namespace kumiki::platform
