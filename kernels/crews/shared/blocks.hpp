#pragma once

#include "kernels/crews/blocks.hpp"
#include "kernels/crews/shared/shared_crew.hpp"

namespace kumiki::kernels {

/// The blocks are in a shared array, in their order, so that a rank can be the home of some of them: each begins with a
/// page. The barrier makes final blocks visible to all, and readers read them where they are.
class SharedCrew::Blocks {
public:
    /// Collective.
    Blocks(SharedCrew& crew, const BlockPlan& plan)
        : stride_(in_whole_pages<double>(crew.pages().page_bytes(), plan.length)),
          array_(crew.pages(), plan.count * stride_,
                 [stride = stride_, owner = plan.owner, threads = crew.local_size()](std::size_t index) {
                     return owner(index / stride) / threads;
                 }) {}

    double* at(std::size_t block) { return array_.data() + block * stride_; }
    static void deliver(Worker& worker, std::size_t) { meet(worker); }
    static bool in_one_memory() { return true; }

private:
    std::size_t stride_;
    PlacedArray<double> array_;
};

} // namespace kumiki::kernels
