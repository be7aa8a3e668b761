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

/// Which way is better.
enum class Better { lower, higher };

/// One measured figure with its raw samples; printed as one line of JSON (docs/rows.md).
struct Row {
    std::string metric;         ///< `thing.figure`, e.g. "put.latency"
    std::string implementation; ///< "kumiki", "openmpi", "mpich", "openmp", "bound", ...
    std::map<std::string, std::variant<std::int64_t, std::string>> parameters;
    std::string unit;
    Better better = Better::lower;
    std::vector<double> samples; ///< in the order taken, warm-up left out
    std::optional<bool> validated = std::nullopt;
    bool oversubscribed = false;
    std::string note = {};
    double resolution = 0; ///< in the row's unit: what nobody minds however small the median is; see settled()
};

/// A difference in percentage points that does not matter: the resolution of rows in %.
inline constexpr double one_point = 1.0;

inline bool settled(const Row& row) { return settled(row.samples, row.resolution); }

/// Writes the row as one line of JSON and flushes, so that a reader sees it at once.
void print(std::ostream& out, const Row& row);

} // namespace kumiki::measure
