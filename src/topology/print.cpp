#include "topology/print.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>

#include "topology/ranges.hpp"

namespace kumiki::topology {
namespace {

std::string counted(int count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string name_of(const CacheKind& cache) {
    const char* suffix = cache.type == "data" ? "d" : cache.type == "instruction" ? "i" : "";
    return fmt::format("L{}{}", cache.level, suffix);
}

/// "32 x 2 MiB, line 64 B, each shared by 2 processors"; caches shared by different numbers of processors get separate
/// lines.
std::string cache_lines(const CacheKind& cache) {
    std::map<std::size_t, std::vector<const std::vector<int>*>> by_sharers;
    for (const auto& processors : cache.shared_by) by_sharers[processors.size()].push_back(&processors);
    std::string text;
    for (const auto& [sharers, caches] : by_sharers) {
        const std::string who =
            sharers == 1 ? "one processor each"
            : caches.size() == 1
                ? fmt::format("shared by processors {}", as_ranges(*caches.front()))
                : fmt::format("each shared by {} processors, such as {}", sharers, as_ranges(*caches.front()));
        text += fmt::format("  {:<4} {} x {}, {}-byte lines, {}\n", name_of(cache), caches.size(), as_size(cache.bytes),
                            cache.line_bytes, who);
    }
    return text;
}

/// One line for cores with equally many hardware threads: "cores 0-7: 2 processors each (0-15)".
std::string package_lines(const Package& package, int first_core) {
    std::string text =
        fmt::format("  package {}{}\n", package.index, package.model.empty() ? "" : ": " + package.model);
    const int end = static_cast<int>(package.cores.size());
    for (int first = 0; first < end;) {
        const std::size_t each = package.cores[static_cast<std::size_t>(first)].size();
        std::vector<int> processors;
        int last = first;
        for (; last < end && package.cores[static_cast<std::size_t>(last)].size() == each; ++last)
            processors.insert(processors.end(), package.cores[static_cast<std::size_t>(last)].begin(),
                              package.cores[static_cast<std::size_t>(last)].end());
        std::ranges::sort(processors);
        const int count = last - first;
        text += count == 1 ? fmt::format("    core {}: processors {}\n", first_core + first, as_ranges(processors))
                           : fmt::format("    cores {}-{}: {} each, processors {}\n", first_core + first,
                                         first_core + last - 1, counted(static_cast<int>(each), "processor"),
                                         as_ranges(processors));
        first = last;
    }
    return text;
}

std::string usable_line(const Machine& machine) {
    const Usable& usable = machine.usable;
    std::string text =
        fmt::format("usable: {} (processors {})", counted(usable.cores, "core"), as_ranges(usable.processors));
    if (usable.quota) text += fmt::format(", limited by a cgroup to the time of {:g} processors", *usable.quota);
    return text + "\n";
}

std::string heading(const Machine& machine) {
    std::string text = machine.this_machine ? machine.host : "a described machine (HWLOC_SYNTHETIC or HWLOC_XMLFILE)";
    if (!machine.product.empty()) text += fmt::format(", {}", machine.product);
    if (machine.is_virtual) text += ", virtual machine";
    if (!machine.system.empty()) text += fmt::format(" ({})", machine.system);
    return text + "\n";
}

std::string accelerator_line(const Accelerator& device) {
    std::string text = device.number < 0 ? fmt::format("  no device of a job: {}", device.kind)
                                         : fmt::format("  device {}", device.number);
    if (!device.model.empty()) text += fmt::format(", {}", device.model);
    if (device.memory_bytes > 0) text += fmt::format(", {}", as_size(device.memory_bytes));
    if (!device.names.empty()) text += fmt::format(", called {}", fmt::join(device.names, ", "));
    if (!device.bus.empty()) text += fmt::format(", at {}", device.bus);
    if (device.memory_node >= 0) text += fmt::format(", near memory node {}", device.memory_node);
    return text + "\n";
}

} // namespace

std::string as_text(const Machine& machine) {
    std::string text = heading(machine);
    text +=
        fmt::format("{}, {}, {}, {} of memory in {}\n", counted(static_cast<int>(machine.packages.size()), "package"),
                    counted(machine.cores(), "core"), counted(machine.processors(), "processor"),
                    as_size(machine.memory_bytes()), counted(static_cast<int>(machine.memory.size()), "node"));
    text += usable_line(machine);
    text += "\nprocessors\n";
    int first_core = 0;
    for (const Package& package : machine.packages) {
        text += package_lines(package, first_core);
        first_core += static_cast<int>(package.cores.size());
    }
    text += "\nmemory\n";
    for (const MemoryNode& node : machine.memory)
        text += fmt::format("  node {}: {}, nearest to processors {}\n", node.index, as_size(node.bytes),
                            as_ranges(node.processors));
    if (!machine.caches.empty()) text += "\ncaches\n";
    for (const CacheKind& cache : machine.caches) text += cache_lines(cache);
    text += machine.accelerators.empty() ? "\naccelerators: none that hwloc sees\n" : "\naccelerators\n";
    for (const Accelerator& device : machine.accelerators) text += accelerator_line(device);
    return text;
}

std::string as_json(const Machine& machine) {
    nlohmann::ordered_json json = {{"schema_version", 1},
                                   {"this_machine", machine.this_machine},
                                   {"host", machine.host},
                                   {"system", machine.system},
                                   {"product", machine.product},
                                   {"virtual", machine.is_virtual},
                                   {"cores", machine.cores()},
                                   {"processors", machine.processors()},
                                   {"simultaneous_multithreading", machine.simultaneous_multithreading()},
                                   {"memory_bytes", machine.memory_bytes()}};
    json["usable"] = {{"cores", machine.usable.cores}, {"processors", machine.usable.processors}};
    json["usable"]["quota"] =
        machine.usable.quota ? nlohmann::ordered_json(*machine.usable.quota) : nlohmann::ordered_json();
    for (auto& list : {"packages", "memory_nodes", "caches", "accelerators"})
        json[list] = nlohmann::ordered_json::array();
    for (const Package& package : machine.packages)
        json["packages"].push_back({{"index", package.index}, {"model", package.model}, {"cores", package.cores}});
    for (const MemoryNode& node : machine.memory)
        json["memory_nodes"].push_back({{"index", node.index}, {"bytes", node.bytes}, {"processors", node.processors}});
    for (const CacheKind& cache : machine.caches)
        json["caches"].push_back({{"level", cache.level},
                                  {"type", cache.type},
                                  {"bytes", cache.bytes},
                                  {"line_bytes", cache.line_bytes},
                                  {"shared_by", cache.shared_by}});
    for (const Accelerator& device : machine.accelerators)
        json["accelerators"].push_back({{"number", device.number},
                                        {"name", device.name},
                                        {"names", device.names},
                                        {"kind", device.kind},
                                        {"vendor", device.vendor},
                                        {"model", device.model},
                                        {"uuid", device.uuid},
                                        {"memory_bytes", device.memory_bytes},
                                        {"bus", device.bus},
                                        {"memory_node", device.memory_node}});
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace kumiki::topology
