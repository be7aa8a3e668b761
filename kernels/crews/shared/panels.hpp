#pragma once

#include "kernels/crews/panels.hpp"
#include "kernels/crews/shared/shared_crew.hpp"

namespace kumiki::kernels {

/// The blocks of all processes are in one shared array, and panels are read in place.
class SharedCrew::Panels {
public:
    static constexpr bool any_order = true;

    /// Collective.
    Panels(SharedCrew& crew, PanelLine line, Fetch)
        : rank_(crew.rank()), line_(std::move(line)), blocks_(crew.pages(), crew.ranks(), 1, line_.largest) {}

    double* block() { return blocks_.of(rank_).data(); }
    static void start(const Worker&, std::size_t) {}
    static void wait(const Worker&, std::size_t) {}
    const double* at(std::size_t number) {
        const PanelPlace& place = line_.panels[number];
        return blocks_.of(place.owner).data() + place.begin;
    }
    static bool copies() { return false; }
    static bool gets() { return false; }

private:
    int rank_;
    PanelLine line_;
    WorkerParts<double> blocks_; ///< by rank
};

} // namespace kumiki::kernels
