// A job that others try to harm: its ranks work with each other until standard input ends, and then report whether
// their data are correct. Rank 0 prints `unharmed`.
#include <cstdint>
#include <cstdio>
#include <kumiki/kumiki.hpp>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

bool input_has_ended() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char byte = 0;
    return poll(&input, 1, 0) == 1 && read(STDIN_FILENO, &byte, 1) == 0;
}

} // namespace

int main() {
    kumiki::Job job;
    auto region = job.allocate<std::uint64_t>(1024);
    const int me = job.rank(), other = (me + 1) % job.size();
    // No rank of the job writes the first words, so a change of them comes from a stranger.
    for (std::size_t i = 0; i < 512; ++i) region[i] = 7;
    job.barrier();
    if (me == 0) std::puts("ready");
    std::fflush(stdout);
    std::uint64_t harm = 0;
    for (std::uint64_t round = 1, last = 0; last == 0; ++round) {
        const std::vector<std::uint64_t> mine(512, round);
        job.put(other, &region[512], std::span<const std::uint64_t>(mine));
        job.barrier();
        for (std::size_t i = 512; i < 1024; ++i) harm += region[i] != round;
        last = job.all_reduce<std::uint64_t>(me == 0 && input_has_ended(), kumiki::Operation::sum);
    }
    for (std::size_t i = 0; i < 512; ++i) harm += region[i] != 7;
    harm = job.all_reduce(harm, kumiki::Operation::sum);
    if (me == 0) std::puts(harm == 0 ? "unharmed" : ("harmed: " + std::to_string(harm) + " words").c_str());
    return 0;
}
