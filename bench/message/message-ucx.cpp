// message-ucx: UCX's tagged messages between two ranks, measured by the same loops as Kumiki's.
#include "bench/common/job_world.hpp"
#include "bench/message/loops.hpp"
#include "bench/remote-memory/ucx_link.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    need_two_ranks(job);
    JobWorld world(job);
    UcxLink link(job, 64, world.hosts() > 1 ? UcxLink::Reach::network : UcxLink::Reach::anything);
    const Buffer own(options.largest);
    MessageRows rows(world, link, KUMIKI_PEER_NAME, options);
    int code = rows.small();
    link.settle();
    code = std::max(code, rows.round_trip_times(own.span()));
    link.settle();
    code = std::max(code, rows.sizes({{"own", own.span()}}));
    link.settle();
    world.barrier();
    return code;
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv);
    return measure::guarded("message-ucx", [&] { return bench::measure_all(options); });
}
