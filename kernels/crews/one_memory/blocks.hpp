#pragma once

#include "kernels/crews/blocks.hpp"
#include "kernels/crews/one_memory/openmp_crew.hpp"

namespace kumiki::kernels {

/// Workers that share their memory only have to wait for each other.
template <class C>
class BlocksInOneMemory {
public:
    BlocksInOneMemory(const C&, const BlockPlan& plan) : blocks_(plan) {}

    double* at(std::size_t block) { return blocks_.at(block); }
    static void deliver(typename C::Worker& worker, std::size_t) { meet(worker); }
    static bool in_one_memory() { return true; }

private:
    UntouchedBlocks blocks_;
};

class SequentialCrew::Blocks : public BlocksInOneMemory<SequentialCrew> {
    using BlocksInOneMemory::BlocksInOneMemory;
};
class OpenMpCrew::Blocks : public BlocksInOneMemory<OpenMpCrew> {
    using BlocksInOneMemory::BlocksInOneMemory;
};

} // namespace kumiki::kernels
