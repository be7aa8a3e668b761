#pragma once

#include <string>
#include <string_view>

namespace kumiki::launch {

/// "kumiki-run: ", the sentence, and the end of the line.
std::string line_of(std::string_view sentence);

/// Writes that line to stderr, in one piece.
void say(std::string_view sentence);

} // namespace kumiki::launch
