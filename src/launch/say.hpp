#pragma once

#include <string_view>

namespace kumiki::launch {

/// One line on stderr, in one piece: "kumiki-run: " and the sentence.
void say(std::string_view sentence);

} // namespace kumiki::launch
