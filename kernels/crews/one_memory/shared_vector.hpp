#pragma once

#include "kernels/common/aligned.hpp"
#include "kernels/crews/one_memory/openmp_crew.hpp"
#include "kernels/crews/shared_vector.hpp"

namespace kumiki::kernels {

/// The vector of workers that share their memory: it is complete when all have written.
template <class C>
class VectorInOneMemory : public ArrivesWhole {
public:
    VectorInOneMemory(const C&, std::span<const Range> parts) : vector_(parts.back().end) {}

    std::span<double> span() { return vector_; }
    static void start(typename C::Worker& worker) { meet(worker); }

private:
    AlignedVector<double> vector_;
};

class SequentialCrew::SharedVector : public VectorInOneMemory<SequentialCrew> {
    using VectorInOneMemory::VectorInOneMemory;
};
class OpenMpCrew::SharedVector : public VectorInOneMemory<OpenMpCrew> {
    using VectorInOneMemory::VectorInOneMemory;
};

} // namespace kumiki::kernels
