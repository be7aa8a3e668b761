// message: two-sided messages between two ranks, of one host or of two.
#include "bench/common/job_world.hpp"
#include "bench/message/loops.hpp"
#include "bench/message/talk.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    JobWorld world(job);
    KumikiTalk talk(job);
    const Buffer own(options.largest);
    auto region = job.allocate<std::byte>(options.largest);
    MessageRows rows(world, talk, "kumiki", options);
    int code = rows.small();
    code = std::max(code, rows.sizes({{"own", own.span()}, {"region", region.span()}}));
    return std::max(code, rows.interleaving([&] { return talk.interleave(own.span()); }));
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv);
    return measure::guarded("message", [&] { return bench::measure_all(options); });
}
