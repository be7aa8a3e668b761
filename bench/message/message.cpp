// message: two-sided messages between two ranks, on one host or on two; and their round trips beside those of the means
// on which messages are built: plain TCP between hosts, memcpy on one host.
#include <optional>

#include "bench/common/job_world.hpp"
#include "bench/message/loops.hpp"
#include "bench/message/talk.hpp"
#include "bench/network/tcp_link.hpp"
#include "bench/remote-memory/bounds.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

/// The raw link of two ranks and everything that it needs. Constructing it is collective.
class Raw {
public:
    Raw(Job& job, bool over_hosts, std::span<std::byte> own)
        : boxes_(job.allocate<Mailbox>(1)), there_(job.allocate<std::byte>(own.size())) {
        if (over_hosts) {
            tcp_.emplace(job, Pair{}, named_interface());
            link_ = {"tcp", tcp_round_trips(job, *tcp_, own, Pair{})};
        } else {
            link_ = {"bound", memcpy_round_trips(job.rank(), own, there_.at(1), boxes_.at(1)[0])};
        }
    }

    const RawLink& link() const { return link_; }

private:
    Region<Mailbox> boxes_;
    Region<std::byte> there_;
    std::optional<TcpLink> tcp_;
    RawLink link_;
};

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    JobWorld world(job);
    KumikiTalk talk(job);
    const Buffer own(options.largest);
    auto region = job.allocate<std::byte>(options.largest);
    const Raw raw(job, world.hosts() > 1, own.span());
    MessageRows rows(world, talk, "kumiki", options);
    int code = rows.small();
    code = std::max(code, rows.round_trip_times(own.span(), &raw.link()));
    code = std::max(code, rows.sizes({{"own", own.span()}, {"region", region.span()}}));
    code = std::max(code, rows.independent(own.span()));
    return std::max(code, rows.interleaving([&] { return talk.interleave(own.span()); }));
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv);
    return measure::guarded("message", [&] { return bench::measure_all(options); });
}
