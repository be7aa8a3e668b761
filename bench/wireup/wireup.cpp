// wireup: how soon a job has started, how soon every rank has written to every other one, and how much memory this
// takes for each rank on another host.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/common/contest.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

/// The memory of this process, both private and shared with ranks of its host, in KiB.
double resident_kib() {
    std::ifstream status("/proc/self/status");
    double sum = 0;
    for (std::string name; status >> name; std::getline(status, name)) {
        double kib = 0;
        if ((name == "RssAnon:" || name == "RssShmem:") && status >> kib) sum += kib;
    }
    return sum;
}

/// Writes a word to every other rank and waits for a word from each.
void meet_all(Job& job, Region<Signal>& words) {
    for (int step = 1; step < job.size(); ++step)
        job.signal((job.rank() + step) % job.size(), words[static_cast<std::size_t>(job.rank())], 1);
    for (int rank = 0; rank < job.size(); ++rank)
        if (rank != job.rank()) job.wait(words[static_cast<std::size_t>(rank)], Comparison::equal, 1);
}

int measure_once(Clock::time_point start) {
    Job job;
    job.barrier();
    const double together = seconds_since(start);

    JobWorld world(job);
    auto words = job.allocate<Signal>(static_cast<std::size_t>(job.size()));
    int remote = 0;
    for (int rank = 0; rank < job.size(); ++rank) remote += words.at(rank).empty() ? 1 : 0;
    job.barrier();
    const double before = resident_kib();
    const auto begin = Clock::now();
    meet_all(job, words);
    const double met = seconds_since(begin);
    const double grown = resident_kib() - before;

    const auto report = [&](const char* metric, const char* unit, double figure) {
        Row row{.metric = metric, .implementation = "kumiki", .parameters = {}, .unit = unit, .samples = {}};
        row.parameters = {{"ranks", std::int64_t{job.size()}}, {"hosts", std::int64_t{world.hosts()}}};
        row.samples.push_back(world.largest(figure));
        row.oversubscribed = job.oversubscribed();
        if (job.rank() == 0) print(std::cout, row);
    };
    report("wireup.time", "s", together);
    report("wireup.first_contact", "s", met);
    if (remote > 0) report("wireup.memory_per_peer", "KiB", grown / remote);
    return measure::success;
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto start = bench::Clock::now();
    CLI::App program{
        "Measures how soon the ranks of a job are together (s from their start), how soon each has written to "
        "all others (s), and the memory that takes for each rank on another host (KiB)."};
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded("wireup", [&] { return bench::measure_once(start); });
}
