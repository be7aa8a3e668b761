#include "launch/say.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace kumiki::launch {

std::string line_of(std::string_view sentence) { return fmt::format("kumiki-run: {}\n", sentence); }

void say(std::string_view sentence) {
    const auto line = line_of(sentence);
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

} // namespace kumiki::launch
