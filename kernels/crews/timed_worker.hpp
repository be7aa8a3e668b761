#pragma once

#include <cstddef>

#include "kernels/common/job_report.hpp"
#include "measure/sampling.hpp"

namespace kumiki::kernels {

/// The base of all workers of all crews: the watches for one process's times, which its first worker keeps. For the
/// other workers the calls cost nothing.
class TimedWorker {
public:
    explicit TimedWorker(bool keeps_times) : keeps_times_(keeps_times) {}

    /// From here on this worker is in `phase`.
    void enter(Phase phase) {
        if (keeps_times_) phases_.enter(phase);
    }
    /// The same for the parts that the program distinguishes besides the phases, in the order of JobReport::own_parts.
    template <class Part>
    void enter_part(Part part) {
        if (keeps_times_) parts_.enter(static_cast<std::size_t>(part));
    }

    bool keeps_times() const { return keeps_times_; }
    void start_watches() {
        start_ = measure::Clock::now();
        enter(Phase::computation);
    }
    /// The times since start_watches().
    RunTimes stop_watches() {
        phases_.stop();
        parts_.stop();
        return {measure::seconds_since(start_), phases_, parts_};
    }

private:
    bool keeps_times_;
    measure::Clock::time_point start_{};
    Phases phases_;
    Stopwatch<std::size_t, RunTimes::most_own_parts> parts_;
};

/// Every worker of the crew calls this, and returns when all have; it continues in the phase computation.
template <class Worker>
void meet(Worker& worker) {
    worker.enter(Phase::synchronisation);
    worker.barrier();
    worker.enter(Phase::computation);
}

/// Calls body(worker) between two barriers of all workers; returns the times of the worker's process if this worker
/// keeps them.
template <class Worker, class Body>
RunTimes timed(Worker& worker, Body& body) {
    worker.barrier();
    worker.start_watches();
    body(worker);
    worker.enter(Phase::synchronisation);
    worker.barrier();
    return worker.keeps_times() ? worker.stop_watches() : RunTimes();
}

} // namespace kumiki::kernels
