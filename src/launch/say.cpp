#include "launch/say.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace kumiki::launch {

void say(std::string_view sentence) {
    const auto line = fmt::format("kumiki-run: {}\n", sentence);
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

} // namespace kumiki::launch
