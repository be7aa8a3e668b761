#pragma once

#include <functional>

namespace kumiki::fabric {

/// Does something when this process ends by itself, with its exit code: process managers want to be told before a rank
/// goes that has not failed. Not when the job is left: an MPI library may use the same connection until the end, and
/// nobody can know whether one will. What was asked for last is done first, and all of it after what the program itself
/// does at exit. Child processes, which inherit what is to be done at exit, do not do it.
void at_end(std::function<void(int code)> farewell);

} // namespace kumiki::fabric
