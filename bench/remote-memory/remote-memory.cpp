// remote-memory: the cost for rank 0 of writing, reading and changing rank 1's memory (COMPaS paper, Fig. 4), beside
// the performance of the bare machine on the same memory in the same run.
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/remote-memory/bounds.hpp"
#include "bench/remote-memory/exchanges.hpp"
#include "bench/remote-memory/loops.hpp"
#include "bench/remote-memory/movers.hpp"
#include "bench/remote-memory/one_way.hpp"
#include "bench/remote-memory/options.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

class RemoteMemory {
public:
    RemoteMemory(Job& job, const RemoteMemoryOptions& options)
        : job_(job),
          world_(job),
          options_(options),
          boxes_(job.allocate<Mailbox>(mailboxes)),
          links_(job.allocate<Link>(Chain::links)),
          region_(job.allocate<std::byte>(std::max(options.largest, rate_bytes))),
          own_(region_.size()) {
        if (boxes_.at(1).empty())
            throw Error(KUMIKI_ERROR_ENVIRONMENT,
                        "the two ranks are on different hosts; there is no bare machine to compare with");
    }

    int measure() {
        // Active messages come last: once a rank has a handler, each wait also looks for messages.
        int code = small_operations();
        code = std::max(code, sizes());
        return std::max(code, active_messages());
    }

private:
    static constexpr std::size_t mailboxes = 64;
    static constexpr std::size_t rate_bytes = 4096 * sizeof(std::uint64_t);

    int small_operations() {
        const std::span<Mailbox> boxes = boxes_.span();
        const std::span<Mailbox> at_rank_1 = boxes_.at(1);
        const auto ping_pong = [this](Row row, auto play) {
            return rounds(world_, std::move(row), std::move(play), 2);
        };
        const auto put = latency_row("put.latency", "kumiki");
        Row pure = latency_row("bound.cacheline_pingpong", "bound");
        const auto lines = [&pure](std::int64_t number) {
            Row row = pure;
            row.parameters["lines"] = number;
            return row;
        };

        std::vector<Contestant> contestants;
        contestants.push_back(
            ping_pong(with(put, "placement", "adjacent"), put_ping_pong(job_, boxes, &Mailbox::adjacent)));
        contestants.push_back(
            ping_pong(with(put, "placement", "separate"), put_ping_pong(job_, boxes, &Mailbox::separate)));
        contestants.push_back(ping_pong(latency_row("signal.latency", "kumiki"), signal_ping_pong(job_, boxes)));
        contestants.push_back(ping_pong(lines(1), bare_one_line(job_.rank(), at_rank_1)));
        contestants.push_back(ping_pong(lines(2), bare_two_lines(job_.rank(), boxes, boxes_.at(1 - job_.rank()))));
        contestants.push_back(get_latency(world_, job_, links_));
        contestants.push_back(fetch_add_latency(world_, job_, links_));
        contestants.push_back(contended_fetch_add_latency(world_, job_, boxes));
        contestants.push_back(bare_load_latency(world_, links_));
        contestants.push_back(put_rate());
        return contest(world_, std::move(contestants), options_.budget);
    }

    int active_messages() {
        ActivePingPong active(job_, boxes_[0].handled.signal);
        const auto play = [&active](std::uint64_t count) { return active.play(count); };
        return contest(world_, {rounds(world_, latency_row("active_message.latency", "kumiki"), play, 2)},
                       options_.budget);
    }

    Contestant put_rate() {
        Mover mover = word_put_mover(job_, own_.span(), region_.span(), boxes_[0]);
        const std::uint64_t count = batch_of(world_, mover, rate_bytes, batches_);
        Contestant rate = bandwidth(world_, bandwidth_row("put.rate", "kumiki", 8), mover, rate_bytes, count, batches_);
        rate.row.unit = "M/s";
        const auto bytes_per_second = rate.take;
        rate.take = [bytes_per_second] {
            const Sample sample = bytes_per_second();
            return Sample{sample.figure * 1e3 / sizeof(std::uint64_t), sample.right};
        };
        return rate;
    }

    int sizes() {
        int code = measure::success;
        const Mover put = put_mover(job_, own_.span(), region_.span(), boxes_[0]);
        const Mover get = get_mover(job_, own_.span(), region_.span());
        const Mover copy = memcpy_mover(job_.rank(), own_.span(), region_.at(1), boxes_.at(1)[0]);
        for (const std::size_t bytes : options_.sizes()) {
            const std::uint64_t count = batch_of(world_, copy, bytes, batches_);
            const auto row = [bytes](const char* metric, const char* by) { return bandwidth_row(metric, by, bytes); };
            std::vector<Contestant> contestants;
            contestants.push_back(bandwidth(world_, row("put.bandwidth", "kumiki"), put, bytes, count, batches_));
            contestants.push_back(bandwidth(world_, row("get.bandwidth", "kumiki"), get, bytes, count, batches_));
            contestants.push_back(bandwidth(world_, row("bound.memcpy", "bound"), copy, bytes, count, batches_));
            code = std::max(code, contest(world_, std::move(contestants), options_.budget));
        }
        return code;
    }

    Job& job_;
    JobWorld world_;
    RemoteMemoryOptions options_;
    Region<Mailbox> boxes_;
    Region<Link> links_;
    Region<std::byte> region_;
    Buffer own_;
    Batches batches_;
};

int measure_all(const RemoteMemoryOptions& options) {
    Job job;
    need_two_ranks(job);
    return RemoteMemory(job, options).measure();
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::RemoteMemoryOptions::parse(argc, argv);
    return measure::guarded("remote-memory", [&] { return bench::measure_all(options); });
}
