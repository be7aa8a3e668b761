// A library that has nothing to do with OpenMP: it takes signals as those do that print where a program has failed, and
// makes objects of its own.
#pragma once

namespace apart {

/// From now on a fault ends the program, by a handler; and the calling thread is interrupted by no signal.
void take_signals();

struct Counter;
/// Never destroyed.
Counter* make_counter();
void count(Counter& counter);
int counted(const Counter& counter);

} // namespace apart
