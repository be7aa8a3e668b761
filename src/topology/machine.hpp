#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "error/result.hpp"

namespace kumiki::topology {

struct MemoryNode {
    int index = 0;
    std::uint64_t bytes = 0;
    std::vector<int> processors; ///< the nearest ones
};

/// Caches of one level, type and size.
struct CacheKind {
    int level = 0;
    std::string type; ///< data, instruction or unified
    std::uint64_t bytes = 0;
    std::uint64_t line_bytes = 0;
    std::vector<std::vector<int>> shared_by; ///< for each such cache, the processors that use it
};

struct Package {
    int index = 0;
    std::string model;                   ///< of its processor; empty when unknown
    std::vector<std::vector<int>> cores; ///< for each core, its processors (hardware threads)
};

struct Accelerator {
    int number = -1;                ///< among the devices that compute; -1: it does not compute
    std::string name;               ///< the first of `names`, or its address on the bus
    std::vector<std::string> names; ///< as drivers and programming interfaces name it: nvml0, cuda0, opencl0d0, card0
    std::string kind;               ///< coprocessor, or display
    std::string vendor;             ///< nvidia, amd or intel; empty: another one
    std::string model;              ///< empty when unknown
    std::string uuid;               ///< by which the vendor's interfaces identify it; empty when unknown
    std::uint64_t memory_bytes = 0; ///< 0 when unknown
    std::string bus;                ///< PCI address; empty when it has none
    int memory_node = -1;
};

/// The part of the machine that this process may use.
struct Usable {
    std::vector<int> processors;
    int cores = 0;
    std::optional<double> quota; ///< the processor time that cgroups allow, in processors; nothing: no limit
};

/// A machine: this one, or the one that HWLOC_SYNTHETIC or HWLOC_XMLFILE describes.
struct Machine {
    bool this_machine = true;
    std::string host;    ///< empty for another machine
    std::string system;  ///< kernel and architecture; empty for another machine
    std::string product; ///< the manufacturer's name for it; empty when unknown
    bool is_virtual = false;
    std::vector<Package> packages;
    std::vector<MemoryNode> memory;
    std::vector<CacheKind> caches; ///< largest level first
    std::vector<Accelerator> accelerators;
    Usable usable;

    int cores() const;
    int processors() const;
    std::uint64_t memory_bytes() const;
    /// Whether any core has more than one hardware thread.
    bool simultaneous_multithreading() const;
};

Result<Machine> describe_machine();

} // namespace kumiki::topology
