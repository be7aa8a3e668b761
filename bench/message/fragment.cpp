// fragment: long messages between two ranks, cut into fragments of the length in KUMIKI_FRAGMENT (F21, F27). The length
// is fixed for a job, so `kumiki tune` starts a job for each length, in turn. With --smallest it also measures shorter
// messages, by factors of 4.
#include <charconv>
#include <cstdlib>

#include "bench/common/job_world.hpp"
#include "bench/message/loops.hpp"
#include "bench/message/talk.hpp"

namespace kumiki::bench {
namespace {

/// A number if the text is one, as in the rows.
void say_fragment(Row& row) {
    const char* const set = std::getenv("KUMIKI_FRAGMENT");
    const std::string text = set == nullptr ? "tuned" : set;
    std::int64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error == std::errc{} && end == text.data() + text.size()) row.parameters["fragment"] = bytes;
    else row.parameters["fragment"] = text;
}

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    KumikiTalk talk(job);
    JobWorld world(job);
    const Buffer own(options.largest);
    Batches batches;
    const SizedMover mover{[&](std::size_t bytes) {
                               Row row = with(bandwidth_row("fragment.bandwidth", "kumiki", bytes), "fabric",
                                              world.hosts() > 1 ? "network" : "shm");
                               say_fragment(row);
                               return row;
                           },
                           message_mover(talk, own.span())};
    return sweep_sizes(world, options, {mover}, batches, {.least_count = 2});
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse_largest(argc, argv);
    return measure::guarded("fragment", [&] { return bench::measure_all(options); });
}
