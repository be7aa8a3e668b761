// thread-barrier: the time that the threads of one process need to wait for each other (COMPaS paper, Table 2), with
// Kumiki and with others.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "bench/common/affinity.hpp"
#include "bench/common/contest.hpp"
#include "bench/common/late_comer.hpp"
#include "bench/thread-barrier/barriers.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

/// Runs a body on the threads of a team.
class OnTeam {
public:
    explicit OnTeam(Team& team) : team_(team) {}

    template <class Body>
    void operator()(Body body) const {
        team_.run([&](Member& member) { body(member); });
    }

private:
    Team& team_;
};

/// What a body that OpenMP runs knows about its thread; the same names as in Member.
struct OpenMpMember {
    int number;
    int thread() const { return number; }
    bool master() const { return number == 0; }
};

/// Runs a body on OpenMP's threads, on the same cores as the team's threads.
class OnOpenMp {
public:
    explicit OnOpenMp(std::vector<cpu_set_t> cores) : cores_(std::move(cores)) {}

    template <class Body>
    void operator()(Body body) const {
#pragma omp parallel num_threads(static_cast<int>(cores_.size()))
        {
            run_on(cores_[static_cast<std::size_t>(omp_get_thread_num())]);
            OpenMpMember member{omp_get_thread_num()};
            body(member);
        }
        // This ends the threads, which would otherwise spin for some milliseconds during the next measurement.
        omp_pause_resource_all(omp_pause_soft);
    }

private:
    std::vector<cpu_set_t> cores_;
};

/// Every thread in turn enters late. Returns whether no other thread ever left before it entered.
template <class On, class Barrier>
bool holds_back(int threads, const On& on_threads, Barrier barrier) {
    const int rounds = std::min(2 * threads, 64);
    std::vector<Passage> passages(static_cast<std::size_t>(rounds * threads));
    on_threads([&](auto& member) {
        for (int round = 0; round < rounds; ++round)
            passages[static_cast<std::size_t>(round * threads + member.thread())] =
                pass(round % threads == member.thread(), [&] { barrier(member); });
    });
    for (auto round = passages.begin(); round != passages.end(); round += threads) {
        const auto last = std::max_element(round, round + threads, [](auto a, auto b) { return a.came < b.came; });
        const auto first = std::min_element(round, round + threads, [](auto a, auto b) { return a.went < b.went; });
        if (first->went < last->came) return false;
    }
    return true;
}

template <class On, class Barrier>
Contestant contestant(const char* implementation, int threads, const On& on_threads, Barrier barrier) {
    const auto seconds = [on_threads, barrier](std::uint64_t count) {
        double taken = 0;
        on_threads([&](auto& member) {
            for (std::uint64_t i = 0; i < warm_up_of(count); ++i) barrier(member);
            const auto start = Clock::now();
            for (std::uint64_t i = 0; i < count; ++i) barrier(member);
            if (member.master()) taken = seconds_since(start);
        });
        return taken;
    };
    Alone world;
    const bool right = holds_back(threads, on_threads, barrier);
    const std::uint64_t count = calibrate(world, seconds);
    Row row{.metric = "thread_barrier.time",
            .implementation = implementation,
            .parameters = {},
            .unit = "us",
            .samples = {}};
    row.parameters = {{"threads", std::int64_t{threads}}};
    return {std::move(row), [=] { return Sample{seconds(count) / static_cast<double>(count) * 1e6, right}; }};
}

template <class Barrier>
Contestant other(const char* implementation, int threads, const OnTeam& on_team) {
    return contestant(implementation, threads, on_team,
                      [barrier = std::make_shared<Barrier>(threads)](auto& member) { barrier->wait(member.thread()); });
}

int measure_all(int threads, const Budget& budget) {
    const auto cores = numbers(allowed_cores()).size();
    Job job;
    Team team(job, threads);
    std::vector<cpu_set_t> bindings(static_cast<std::size_t>(threads));
    team.run([&](Member& member) { bindings[static_cast<std::size_t>(member.thread())] = allowed_cores(); });

    const OnTeam on_team(team);
    std::vector<Contestant> contestants;
    contestants.push_back(contestant("kumiki", threads, on_team, [](auto& member) { member.barrier(); }));
    contestants.push_back(other<CentralBarrier>("central", threads, on_team));
    contestants.push_back(other<PthreadBarrier>("pthread", threads, on_team));
    contestants.push_back(other<StandardBarrier>("std", threads, on_team));
    contestants.push_back(other<BoundBarrier>("bound", threads, on_team));
    contestants.push_back(contestant("openmp", threads, OnOpenMp(bindings), [](auto&) {
#pragma omp barrier
    }));
    Alone world{static_cast<std::size_t>(threads) > cores};
    return contest(world, std::move(contestants), budget);
}

int run(int argc, char** argv) {
    int threads = 2;
    Budget budget;
    CLI::App program{"Measures the barrier of Kumiki's thread team beside other barriers, one row each."};
    program.add_option("--threads", threads, "number of threads")->check(CLI::Range(2, 4096))->capture_default_str();
    budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded("thread-barrier", [&] { return measure_all(threads, budget); });
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) { return kumiki::bench::run(argc, argv); }
