#pragma once

#include <functional>

namespace kumiki::fabric {

/// Does something when this process ends by itself with exit code 0, as process managers want to be told before a rank
/// goes that has not failed. Not when the job is left: an MPI library may use the same connection until the end, and
/// nobody can know whether one will. Child processes, which inherit what is to be done at exit, do not do it.
void at_good_end(std::function<void()> farewell);

} // namespace kumiki::fabric
