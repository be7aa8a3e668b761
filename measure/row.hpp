#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "measure/interval.hpp"

namespace kumiki::measure {

/// Which direction is better.
enum class Better { lower, higher };

/// One measured figure with its raw samples; printed as one line of JSON (docs/rows.md).
struct Row {
    std::string metric;         ///< `thing.figure`, e.g. "put.latency"
    std::string implementation; ///< "kumiki", "openmpi", "mpich", "openmp", "bound", ...
    std::map<std::string, std::variant<std::int64_t, std::string>> parameters;
    std::string unit;
    Better better = Better::lower;
    std::vector<double> samples; ///< in the order in which they were taken, without the warm-up
    std::optional<bool> validated = std::nullopt;
    bool oversubscribed = false;
    std::string note = {};
    double resolution = 0; ///< half an interval's width, in the row's unit, that always suffices; see settled()
};

/// A difference in percentage points that is negligible: the resolution of rows in %.
inline constexpr double one_point = 1.0;

inline bool settled(const Row& row) { return settled(row.samples, row.resolution); }

/// Writes the row as one line of JSON and flushes, so that a reader gets it at once.
void print(std::ostream& out, const Row& row);

} // namespace kumiki::measure
