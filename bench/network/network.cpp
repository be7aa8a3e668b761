// network: the cost of writing, reading and changing the memory of a rank on another host, beside plain TCP between the
// same two ranks, which is the bound (COMPaS paper, section 3).
#include <algorithm>
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/network/first_get.hpp"
#include "bench/network/idle_agent.hpp"
#include "bench/network/pair_world.hpp"
#include "bench/network/rows.hpp"
#include "bench/network/tcp_link.hpp"
#include "bench/remote-memory/exchanges.hpp"
#include "bench/remote-memory/movers.hpp"
#include "bench/remote-memory/options.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

/// Words that one rank reads without any action by their owner; each contains its position.
constexpr std::uint64_t word_at(std::size_t index) { return (index + 1) * 0x9e3779b97f4a7c15u; }

/// Gets of 8 bytes, one after another.
std::function<bool(std::uint64_t)> gets(Job& job, std::span<Link> links, Pair pair) {
    for (std::size_t i = 0; i < links.size(); ++i) links[i].word = word_at(i);
    return [&job, links, pair, at = std::size_t{0}](std::uint64_t count) mutable {
        bool right = true;
        for (std::uint64_t i = 0; job.rank() == pair.first && i < count; ++i, ++at)
            right = job.get(pair.second, links[at % links.size()].word) == word_at(at % links.size()) && right;
        return right;
    };
}

/// Fetch-adds to one word, one after another.
std::function<bool(std::uint64_t)> fetch_adds(Job& job, std::uint64_t& counter, Pair pair) {
    return [&job, &counter, pair, visits = std::uint64_t{0}](std::uint64_t count) mutable {
        bool right = true;
        for (std::uint64_t i = 0; job.rank() == pair.first && i < count; ++i)
            right = job.fetch_add(pair.second, counter, 1) == visits++ && right;
        return right;
    };
}

class Network {
public:
    Network(Job& job, const RemoteMemoryOptions& options)
        : job_(job),
          world_(job),
          options_(options),
          hosts_(hosts_of(job)),
          boxes_(job.allocate<Mailbox>(mailboxes)),
          links_(job.allocate<Link>(links)),
          region_(job.allocate<std::byte>(std::max(options.largest, usual_bytes))),
          own_(region_.size()),
          interface_(named_interface()) {
        if (world_.hosts() < 2)
            throw Error(KUMIKI_ERROR_ENVIRONMENT,
                        "all ranks of this job are on one host; start it on several: kumiki-run --hosts a,b");
    }

    int measure() {
        const Pair pair{0, first_rank_of(1)};
        int code = principal(pair);
        if (world_.hosts() > 2) code = std::max(code, every_pair());
        return std::max(code, contest(world_, {idle_agent(job_)}, options_.budget));
    }

private:
    static constexpr std::size_t mailboxes = 64;
    static constexpr std::size_t links = 64;
    static constexpr std::size_t usual_bytes = std::size_t{1} << 20; ///< of a transfer between any two hosts

    int first_rank_of(int host) const { return static_cast<int>(std::ranges::find(hosts_, host) - hosts_.begin()); }

    /// Between the first two hosts: every operation and every size, and TCP in the same rounds.
    int principal(Pair pair) {
        PairWorld world(job_, pair);
        const TcpLink tcp(job_, pair, interface_);
        // Once a rank has a handler, each wait also looks for messages; this takes nanoseconds, whereas a look at the
        // network takes hundreds of them.
        ActivePingPong active(job_, boxes_[0].handled.signal, pair);
        std::vector<Contestant> contestants;
        const auto add = [&](const char* implementation, const char* operation, auto play, int crossings) {
            contestants.push_back(
                rounds(world, network_latency(implementation, operation), std::move(play), crossings));
        };
        add("kumiki", "put", put_ping_pong(job_, boxes_.span(), &Mailbox::adjacent, pair), 2);
        add("kumiki", "get", gets(job_, links_.span(), pair), 1);
        add("kumiki", "atomic", fetch_adds(job_, boxes_[0].counter, pair), 1);
        add("kumiki", "active_message", [&active](std::uint64_t count) { return active.play(count); }, 2);
        add("tcp", "send", tcp_ping_pong(job_, tcp, pair), 2);
        int code = contest(world, std::move(contestants), options_.budget);
        const auto first_gets = [&](const char* metric, double quantile) {
            return first_get(job_, world, links_[0].word, pair, metric, quantile);
        };
        code = std::max(code,
                        contest(world, {first_gets("get.median", 0.5), first_gets("get.tail", 0.99)}, options_.budget));
        const std::vector movers{
            network_mover("kumiki", "put", put_mover(job_, own_.span(), region_.span(), boxes_[0], pair)),
            network_mover("tcp", "send", tcp_mover(job_, tcp, own_.span(), pair))};
        return std::max(code, sweep_sizes(world, options_, movers, batches_, network_limits));
    }

    /// Puts between the first ranks of any two hosts, one pair after another.
    int every_pair() {
        int code = measure::success;
        for (int from = 0; from < world_.hosts(); ++from)
            for (int to = 0; to < world_.hosts(); ++to)
                if (from != to) code = std::max(code, between(from, to));
        return code;
    }

    int between(int from, int to) {
        const Pair pair{first_rank_of(from), first_rank_of(to)};
        PairWorld world(job_, pair);
        auto boxes = job_.allocate<Mailbox>(mailboxes); // new ones: other pairs have raised the signals of the old ones
        const Mover put = put_mover(job_, own_.span(), region_.span(), boxes[0], pair);
        const std::uint64_t count = batch_of(world, put, usual_bytes, batches_, network_limits.least_count);
        std::vector<Contestant> contestants{
            rounds(world, network_latency("kumiki", "put"), put_ping_pong(job_, boxes.span(), &Mailbox::adjacent, pair),
                   2),
            bandwidth(world, network_bandwidth("kumiki", "put", usual_bytes), put, usual_bytes, count, batches_)};
        for (Contestant& each : contestants) {
            each = told_to_all(world, std::move(each));
            each.row.parameters["from"] = std::int64_t{from};
            each.row.parameters["to"] = std::int64_t{to};
        }
        return contest(world_, std::move(contestants), options_.budget);
    }

    Job& job_;
    JobWorld world_;
    RemoteMemoryOptions options_;
    std::vector<int> hosts_; ///< by rank
    Region<Mailbox> boxes_;
    Region<Link> links_;
    Region<std::byte> region_;
    Buffer own_;
    Batches batches_;
    std::string interface_;
};

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    return Network(job, options).measure();
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv, bench::smallest_transfer);
    return measure::guarded("network", [&] { return bench::measure_all(options); });
}
