#pragma once

namespace kumiki::launch {

/// Gives this process another name in every list of processes. `argv` is main's own.
void set_title(char** argv, const char* name);

} // namespace kumiki::launch
