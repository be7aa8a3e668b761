// A rank of a job in which something goes wrong: performs all operations between ranks, again and again.
//   faulty endless     until it is ended
//   faulty RUNS        so many times, then leaves
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "kumiki/kumiki.hpp"

namespace {

constexpr std::size_t count = 20000;

void run(kumiki::Job& job, kumiki::Region<std::uint64_t>& region, std::vector<std::uint64_t>& values) {
    const int next = (job.rank() + 1) % job.size(), before = (job.rank() + job.size() - 1) % job.size();
    job.put(next, region.data(), values);
    job.barrier();
    job.all_reduce(std::span(values).first(3), kumiki::Operation::max);
    auto received = job.receive(before, 1, values);
    job.send(next, 1, region).wait();
    received.wait();
    job.all_reduce(std::span(values), kumiki::Operation::max);
    job.fetch_add(next, region[0], 1);
    job.barrier();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const bool endless = std::string_view(argv[1]) == "endless";
    kumiki::Job job;
    auto region = job.allocate<std::uint64_t>(count);
    std::vector<std::uint64_t> values(count);
    for (int done = 0; endless || done < std::atoi(argv[1]); ++done) run(job, region, values);
}
