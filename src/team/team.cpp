#include "team/team.hpp"

#include <fmt/format.h>
#include <system_error>

#include "platform/thread.hpp"

namespace kumiki::team {

Result<std::unique_ptr<Team>> Team::create(fabric::Fabric& fabric, collective::Collectives& collectives, int threads,
                                           std::vector<int> cpus, std::size_t processors) {
    if (threads < 1 || threads > most_threads)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("a team cannot have {} threads; give 1 to {}, or 0 for the launcher's number", threads,
                                most_threads));
    std::unique_ptr<Team> team(new Team(fabric, collectives, threads, std::move(cpus), processors));
    try {
        team->start();
    } catch (const std::system_error& error) {
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot start {} threads ({}); use fewer, or raise the limit (ulimit -u)", threads,
                                error.what()));
    }
    return team;
}

Team::Team(fabric::Fabric& fabric, collective::Collectives& collectives, int threads, std::vector<int> cpus,
           std::size_t processors)
    : fabric_(fabric),
      collectives_(collectives),
      threads_(threads),
      cpus_(std::move(cpus)),
      patience_(static_cast<std::size_t>(threads) > processors ? wait::crowded(fabric.progress().patience())
                                                               : fabric.progress().patience()),
      barrier_(threads, patience_),
      slots_(static_cast<std::size_t>(threads)) {}

void Team::start() {
    bind(0);
    for (int thread = 1; thread < threads_; ++thread) workers_.emplace_back([this, thread] { serve(thread); });
}

Team::~Team() {
    stop_.store(true, std::memory_order_relaxed);
    run_.value.fetch_add(1, std::memory_order_release);
    wait::ring(work_bell_, patience_);
    for (std::thread& worker : workers_) worker.join();
}

void Team::bind(int thread) const {
    if (cpus_.empty()) return;
    // There are too few processors for one each. All threads share all processors, because a new thread inherits the
    // binding of its creator.
    const bool one_each = cpus_.size() >= static_cast<std::size_t>(threads_);
    platform::bind_to_cpus(one_each ? std::vector{cpus_[static_cast<std::size_t>(thread)]} : cpus_);
}

void Team::serve(int thread) {
    bind(thread);
    for (std::uint64_t run = 1;; ++run) {
        wait::wait(work_bell_, patience_, [&] { return run_.value.load(std::memory_order_acquire) >= run; });
        if (stop_.load(std::memory_order_relaxed)) return;
        slot(thread).turn = 0; // the same for all threads, however the last run ended
        function_(context_, thread);
        if (busy_.value.fetch_sub(1, std::memory_order_acq_rel) == 1) wait::ring(done_bell_, patience_);
    }
}

Result<> Team::run(Function function, void* context) {
    if (running_.exchange(true, std::memory_order_acquire))
        return fail(
            KUMIKI_ERROR_STATE,
            "the team is already running; two threads cannot run one team at once, nor a thread of the team itself");
    barrier_.mend();
    function_ = function;
    context_ = context;
    busy_.value.store(static_cast<std::uint64_t>(threads_ - 1), std::memory_order_relaxed);
    run_.value.fetch_add(1, std::memory_order_release);
    if (threads_ > 1) wait::ring(work_bell_, patience_);
    slot(0).turn = 0;
    function(context, 0);
    wait::wait(done_bell_, patience_, [this] { return busy_.value.load(std::memory_order_acquire) == 0; });
    running_.store(false, std::memory_order_release);
    return {};
}

Result<> Team::barrier(int thread) {
    if (barrier_.arrive_and_wait(thread)) return {};
    return fail(
        KUMIKI_ERROR_STATE,
        fmt::format("thread {} waits for another thread of the team, which has left the run by an exception", thread));
}

Result<> Team::barrier_all(int thread) {
    if (auto met = barrier(thread); !met) return met;
    if (fabric_.size() == 1) return {};
    if (thread == 0) slot(0).outcome = collectives_.barrier();
    if (auto met = barrier(thread); !met) return met;
    return slot(0).outcome;
}

} // namespace kumiki::team
