#include "linpack/progress.hpp"

#include <fmt/ostream.h>

namespace kumiki::linpack {

void Progress::operator()(double share) {
    const Clock::time_point now = Clock::now();
    if (share <= 0 || now - told_ < std::chrono::seconds(1)) return;
    told_ = now;
    const double taken = std::chrono::duration<double>(now - start_).count();
    fmt::print(out_, "linpack: {:.0f} % done, {:.0f} s left\n", 100 * share, taken / share - taken);
    out_.flush();
}

} // namespace kumiki::linpack
