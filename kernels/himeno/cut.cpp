#include "kernels/himeno/cut.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace kumiki::kernels::himeno {

Cut::Cut(const Problem& problem, int workers, Split split) : problem_(problem), by_planes_(workers) {
    const auto fits = [&](int by_planes, int by_rows) {
        return static_cast<std::size_t>(by_planes) <= problem.planes - 2 &&
               static_cast<std::size_t>(by_rows) <= problem.rows - 2;
    };
    // Points in the surface between blocks, over the whole grid and without the columns that all cuts share.
    const auto surface = [&](int by_planes, int by_rows) {
        return static_cast<std::size_t>(by_planes - 1) * problem.rows +
               static_cast<std::size_t>(by_rows - 1) * problem.planes;
    };
    if (split == Split::pencils)
        for (int by_rows = 2; by_rows <= workers; ++by_rows) {
            const int by_planes = workers / by_rows;
            if (workers % by_rows != 0 || !fits(by_planes, by_rows)) continue;
            if (fits(by_planes_, by_rows_) && surface(by_planes, by_rows) >= surface(by_planes_, by_rows_)) continue;
            by_planes_ = by_planes;
            by_rows_ = by_rows;
        }
    if (!fits(by_planes_, by_rows_))
        throw std::runtime_error("the grid of size " + std::string(problem.name) + " cannot be cut for " +
                                 std::to_string(workers) + " workers (ranks x threads)" +
                                 "; give a larger --size, fewer workers, or --split pencils");
}

Range Cut::planes(int worker) const {
    const Range inside =
        share(problem_.planes - 2, static_cast<std::size_t>(by_planes_), static_cast<std::size_t>(worker / by_rows_));
    return {inside.begin + 1, inside.end + 1};
}

Range Cut::rows(int worker) const {
    const Range inside =
        share(problem_.rows - 2, static_cast<std::size_t>(by_rows_), static_cast<std::size_t>(worker % by_rows_));
    return {inside.begin + 1, inside.end + 1};
}

std::vector<std::vector<Cut::Neighbour>> Cut::neighbours(int worker) const {
    const auto towards = [](Side side, int partner) {
        return Neighbour{side, {static_cast<int>(side), partner, static_cast<int>(opposite(side))}};
    };
    const int plane_part = worker / by_rows_, row_part = worker % by_rows_;
    std::vector<std::vector<Neighbour>> groups;
    if (by_rows_ > 1) {
        auto& group = groups.emplace_back();
        if (row_part > 0) group.push_back(towards(Side::west, worker - 1));
        if (row_part + 1 < by_rows_) group.push_back(towards(Side::east, worker + 1));
    }
    if (by_planes_ > 1) {
        auto& group = groups.emplace_back();
        if (plane_part > 0) group.push_back(towards(Side::north, worker - by_rows_));
        if (plane_part + 1 < by_planes_) group.push_back(towards(Side::south, worker + by_rows_));
    }
    return groups;
}

std::size_t Cut::longest_edge() const {
    // The first worker's share is the largest of all.
    return Block::edge_length(problem_, std::max(planes(0).size(), rows(0).size() + 2));
}

} // namespace kumiki::kernels::himeno
