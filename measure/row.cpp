#include "measure/row.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

namespace kumiki::measure {

void print(std::ostream& out, const Row& row) {
    nlohmann::ordered_json line;
    line["metric"] = row.metric;
    line["implementation"] = row.implementation;
    auto& parameters = line["parameters"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : row.parameters)
        std::visit([&](const auto& held) { parameters[name] = held; }, value);
    line["unit"] = row.unit;
    line["better"] = row.better == Better::lower ? "lower" : "higher";
    line["samples"] = row.samples;
    if (row.resolution > 0) line["resolution"] = row.resolution;
    if (row.validated) line["validated"] = *row.validated;
    line["oversubscribed"] = row.oversubscribed;
    if (!row.note.empty()) line["note"] = row.note;
    out << line.dump() << std::endl;
}

} // namespace kumiki::measure
