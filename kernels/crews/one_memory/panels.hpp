#pragma once

#include "kernels/crews/one_memory/openmp_crew.hpp"
#include "kernels/crews/panels.hpp"

namespace kumiki::kernels {

/// One process has everything.
class PanelsInOneMemory {
public:
    static constexpr bool any_order = true;

    PanelsInOneMemory(const auto&, PanelLine line, Fetch) : line_(std::move(line)), block_(untouched(line_.largest)) {}

    double* block() { return block_.get(); }
    static void start(const auto&, std::size_t) {}
    static void wait(const auto&, std::size_t) {}
    const double* at(std::size_t number) const { return block_.get() + line_.panels[number].begin; }
    static bool copies() { return false; }
    static bool gets() { return false; }

private:
    PanelLine line_;
    std::unique_ptr<double[]> block_;
};

class SequentialCrew::Panels : public PanelsInOneMemory {
    using PanelsInOneMemory::PanelsInOneMemory;
};
class OpenMpCrew::Panels : public PanelsInOneMemory {
    using PanelsInOneMemory::PanelsInOneMemory;
};

} // namespace kumiki::kernels
