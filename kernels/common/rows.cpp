#include "kernels/common/rows.hpp"

#include <stdexcept>
#include <string>

namespace kumiki::kernels {

Range rows_of_worker(std::size_t count, int workers, int worker) {
    if (static_cast<std::size_t>(workers) > count)
        throw std::runtime_error("a grid with " + std::to_string(count) + " rows to compute cannot be cut for " +
                                 std::to_string(workers) +
                                 " workers (ranks x threads); give a larger --size or fewer workers");
    return share(count, static_cast<std::size_t>(workers), static_cast<std::size_t>(worker));
}

} // namespace kumiki::kernels
