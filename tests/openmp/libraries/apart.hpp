// A library that has nothing to do with OpenMP, and takes signals as those do that print where a program has failed.
#pragma once

namespace apart {

/// From now on a fault ends the program, by a handler; and the calling thread is interrupted by no signal.
void take_signals();

} // namespace apart
