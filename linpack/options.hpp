#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "linpack/devices.hpp"
#include "linpack/parameters.hpp"

namespace CLI {
class App;
}

namespace kumiki::linpack {

/// The command line. Options that take a list make a run of each combination, in HPL's order.
struct Options {
    std::vector<std::size_t> sizes{2000};
    std::vector<std::size_t> blocks{256};
    std::vector<Grid> grids; ///< empty: near_square()
    bool by_columns = false;
    std::vector<Looking> recursive{Looking::right}, leaf{Looking::right};
    std::vector<std::size_t> parts{2}, least{8};
    std::vector<Broadcast> broadcasts{Broadcast::ring};
    Swap swap = Swap::mixed;
    std::size_t swap_threshold = 64;
    std::vector<double> weights;
    bool measured_weights = false; ///< weights by the speed that is measured
    LookAhead look_ahead = LookAhead::tiles;
    double threshold = 16; ///< HPL's usual bound
    bool progress = false;
    DeviceWish device;

    void add_to(CLI::App& program);
    /// The device, which not every program uses.
    void add_device_to(CLI::App& program);
    /// All runs, for a job of so many ranks.
    std::vector<Parameters> runs(int ranks) const;

private:
    std::vector<Variant> variants() const;
    void read_weights(const std::string& text);
};

/// The word that chooses it on the command line.
const char* word_for(LookAhead look_ahead);
const char* word_for(Form form);

/// The grid of so many ranks whose rows and columns are nearest to each other, with no more rows than columns.
Grid near_square(int ranks);

/// What is wrong with the parameters for a job of so many ranks, as a sentence; empty: nothing.
std::string objection(const Parameters& parameters, int ranks);

} // namespace kumiki::linpack
