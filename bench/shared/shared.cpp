// shared: what it costs to keep the pages of shared arrays consistent between two ranks (Omni/SCASH paper), beside bare
// page faults, a rank barrier and puts over the same link.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/job_world.hpp"
#include "bench/network/tcp_link.hpp"
#include "bench/rank-barrier/barrier_loops.hpp"
#include "bench/remote-memory/exchanges.hpp"
#include "bench/remote-memory/movers.hpp"
#include "bench/remote-memory/sizes.hpp"
#include "bench/shared/bare_faults.hpp"
#include "bench/shared/first_touch.hpp"
#include "bench/shared/half.hpp"
#include "bench/shared/locking.hpp"
#include "bench/shared/options.hpp"
#include "kumiki/kumiki.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

constexpr std::size_t pages_of_a_sample = 256;
constexpr std::size_t cached_pages = 2048;

class SharedPages {
public:
    SharedPages(Job& job, const SharedOptions& options)
        : job_(job),
          world_(job),
          options_(options),
          some_(job, options.page, pages_of_a_sample),
          mechanism_(kumiki_shared_mechanism(job.handle())) {
        need_two_ranks(job);
    }

    int measure() {
        int code = contest(world_, {shared_barrier(0), rank_barrier()}, options_.budget);
        if (mechanism_ == "none") return std::max(code, locks()); // the ranks share one memory
        code = std::max(code, with_cached_pages());
        code = std::max(code, first_touch());
        code = std::max(code, single_pages());
        code = std::max(code, refreshed_pages());
        code = std::max(code, scan());
        return std::max(code, locks());
    }

private:
    Row row(const char* metric, const char* implementation, const char* unit = "us") const {
        Row made{.metric = metric, .implementation = implementation, .parameters = {}, .unit = unit, .samples = {}};
        made.parameters = {{"ranks", std::int64_t{2}},
                           {"fabric", world_.hosts() > 1 ? "network" : "shm"},
                           {"mechanism", mechanism_},
                           {"copies", mechanism_ == "none" ? "host" : "rank"},
                           {"page", static_cast<std::int64_t>(options_.page)}};
        return made;
    }

    // -- barriers --

    Contestant shared_barrier(std::size_t cached) {
        Contestant made = plain(world_, "kumiki", "plain", [this] { job_.shared_barrier(); });
        made.row = row("shared_barrier.time", "kumiki");
        made.row.parameters["cached"] = static_cast<std::int64_t>(cached);
        return made;
    }
    Contestant rank_barrier() {
        Contestant made = plain(world_, "kumiki", "plain", [this] { job_.barrier(); });
        made.row = row("shared_barrier.time", "bound");
        made.row.note = "a rank barrier";
        return made;
    }
    /// Nothing has been written, but rank 0 has copies of many pages.
    int with_cached_pages() {
        SecondHalf many(job_, options_.page, cached_pages);
        many.change();
        many.give_copies();
        return contest(world_, {shared_barrier(cached_pages)}, options_.budget);
    }

    // -- homes --

    /// Of each page that a rank touches first, until all know whose it is.
    int first_touch() {
        FirstTouch fresh(job_, options_.touched, options_.page);
        std::vector<Contestant> contestants;
        const auto each = [pages = fresh.pages()](double seconds) {
            return seconds / static_cast<double>(pages) * 1e6;
        };
        for (const auto& [homes, name] : {std::pair(Homes::first, "first"), std::pair(Homes::block, "block"),
                                          std::pair(Homes::managed, "managed")}) {
            contestants.push_back({row("first_touch.time", "kumiki"), [&fresh, each, homes] {
                                       const auto [seconds, right] = fresh.shared(homes);
                                       return Sample{each(seconds), right};
                                   }});
            contestants.back().row.parameters["homes"] = name;
        }
        contestants.push_back(
            {row("first_touch.time", "bound"), [&fresh, each] { return Sample{each(fresh.bare()), true}; }});
        contestants.back().row.note = "the kernel fills pages with zeros";
        return contest(world_, std::move(contestants), options_.budget);
    }

    // -- single pages --

    int single_pages() {
        std::vector<Contestant> contestants{{row("page_miss.time", "kumiki"), [this] { return miss(); }},
                                            {row("page_upgrade.time", "kumiki"), [this] { return upgrade(); }}};
        for (const std::size_t words : {std::size_t{1}, some_.words()}) {
            contestants.push_back({row("diff.time", "kumiki"), [this, words] { return difference(words); }});
            contestants.back().row.parameters["changed"] = static_cast<std::int64_t>(words * sizeof(std::uint64_t));
        }
        BareFaults bare(mechanism_, options_.page, pages_of_a_sample);
        contestants.push_back({row("bound.page_fault", "bound"), [&bare] {
                                   const auto [seconds, right] = bare.read_all();
                                   return Sample{each(seconds), right};
                               }});
        std::optional<TcpLink> tcp;
        const Buffer own(options_.page);
        if (world_.hosts() > 1) {
            tcp.emplace(job_, Pair{}, named_interface());
            const Mover pages = tcp_round_trips(job_, *tcp, own.span(), Pair{});
            const std::uint64_t count = batch_of(world_, pages, options_.page, batches_, 1);
            contestants.push_back(
                time_of_each(world_, row("bound.page_round_trip", "tcp"), pages, options_.page, count, batches_));
        }
        return contest(world_, std::move(contestants), options_.budget);
    }
    static double each(double seconds) { return seconds / static_cast<double>(pages_of_a_sample) * 1e6; }

    /// Rank 0 reads pages of which it has no copy, while their home waits in the library.
    Sample miss() {
        some_.change();
        world_.barrier();
        Sample sample;
        if (job_.rank() == 0) {
            const auto before = some_.counters();
            const auto start = Clock::now();
            sample.right = some_.read();
            sample.figure = each(seconds_since(start));
            sample.right = sample.right && some_.counters().fetches - before.fetches == pages_of_a_sample;
        }
        job_.shared_barrier();
        return sample;
    }
    /// Rank 0 writes `words` words to each page of which it has a copy; returns the seconds there.
    double write(std::size_t words, std::uint64_t value) {
        if (job_.rank() != 0) return 0;
        const auto start = Clock::now();
        for (std::size_t turn = 0; turn < pages_of_a_sample; ++turn)
            std::fill_n(some_.page(scattered(turn, pages_of_a_sample)), words, value);
        return seconds_since(start);
    }
    /// Whether the home has what rank 0 wrote.
    bool arrived(std::size_t words, std::uint64_t value) {
        bool right = true;
        for (std::size_t number = 0; job_.rank() == 1 && number < pages_of_a_sample; ++number)
            right = std::all_of(some_.page(number), some_.page(number) + words,
                                [value](std::uint64_t word) { return word == value; }) &&
                    right;
        job_.shared_barrier();
        return right;
    }

    Sample upgrade() {
        some_.change();
        bool right = some_.give_copies();
        const std::uint64_t value = ++written_;
        const auto before = some_.counters();
        const double seconds = write(1, value);
        const auto after = some_.counters();
        if (job_.rank() == 0)
            right = right && after.twins - before.twins == pages_of_a_sample && after.fetches == before.fetches;
        job_.shared_barrier();
        return {each(seconds), arrived(1, value) && right};
    }

    /// What a barrier takes for each page to which rank 0 has written: finding the difference and bringing it home. The
    /// barrier itself is so much shorter than this that it does not count.
    Sample difference(std::size_t words) {
        some_.change();
        const bool right = some_.give_copies();
        const std::uint64_t value = ++written_;
        write(words, value);
        world_.barrier();
        const auto start = Clock::now();
        job_.shared_barrier();
        const double seconds = seconds_since(start);
        return {each(seconds), arrived(words, value) && right};
    }

    // -- protocols --

    /// What it takes for each page that the home has written until another rank that reads them in every interval has
    /// read the new contents: a barrier, and with `invalidate` a miss.
    int refreshed_pages() {
        std::vector<Contestant> contestants;
        SecondHalf invalidated(job_, options_.page, pages_of_a_sample, Protocol::invalidate);
        SecondHalf updated(job_, options_.page, pages_of_a_sample, Protocol::update);
        for (const auto& [pages, name] : {std::pair(&invalidated, "invalidate"), std::pair(&updated, "update")}) {
            pages->change();
            pages->give_copies();
            contestants.push_back({row("page_refresh.time", "kumiki"), [this, pages] {
                                       world_.barrier();
                                       const auto start = Clock::now();
                                       pages->change();
                                       const bool right = job_.rank() != 0 || pages->read();
                                       const double seconds = seconds_since(start);
                                       job_.shared_barrier();
                                       return Sample{job_.rank() == 0 ? each(seconds) : 0, right};
                                   }});
            contestants.back().row.parameters["protocol"] = name;
        }
        return contest(world_, std::move(contestants), options_.budget);
    }

    // -- many pages --

    int scan() {
        SecondHalf pages(job_, options_.page, options_.scan / options_.page);
        auto region = job_.allocate<std::byte>(options_.scan);
        const Buffer own(options_.scan);
        auto boxes = job_.allocate<Mailbox>(1);
        const Mover puts = put_mover(job_, own.span(), region.span(), boxes[0]);
        const auto bandwidth_of = [&](const char* implementation) {
            Row made = row("shared_scan.bandwidth", implementation, "GB/s");
            made.better = measure::Better::higher;
            made.parameters["bytes"] = static_cast<std::int64_t>(options_.scan);
            return made;
        };
        const Row scanned = bandwidth_of("kumiki");
        Row put = bandwidth_of("bound");
        put.note = "puts of as many bytes over the same link";
        return contest(
            world_,
            {{scanned, [&] { return read_in_order(pages); }}, bandwidth(world_, put, puts, options_.scan, 1, batches_)},
            options_.budget);
    }
    Sample read_in_order(SecondHalf& pages) {
        pages.change();
        world_.barrier();
        Sample sample;
        if (job_.rank() == 0) {
            const auto start = Clock::now();
            std::uint64_t sum = 0;
            const std::uint64_t* const first = pages.page(0);
            for (std::size_t word = 0; word < pages.pages() * pages.words(); ++word) sum += first[word];
            const double seconds = seconds_since(start);
            sample = {static_cast<double>(options_.scan) / seconds / 1e9, sum == pages.sum()};
        }
        job_.shared_barrier();
        return sample;
    }

    // -- locks --

    /// Taking and releasing a lock alone; passing it on with a page that has been written, for each turn of a rank; and
    /// a round trip of an active message. They come last: once a rank has a handler of messages, each wait looks for
    /// some.
    int locks() {
        Locking locking(job_);
        auto boxes = job_.allocate<Mailbox>(1);
        ActivePingPong active(job_, boxes[0].handled.signal);
        std::vector<Contestant> contestants;
        const auto add = [&](const char* lock, auto play, int turns) {
            contestants.push_back(rounds(world_, with(row("shared_lock.time", "kumiki"), "lock", lock), play, turns));
        };
        add("manager-here", [&](std::uint64_t count) { return locking.alone(0, count); }, 1);
        add("manager-elsewhere", [&](std::uint64_t count) { return locking.alone(1, count); }, 1);
        add("handover", [&](std::uint64_t count) { return locking.in_turn(count); }, 2);
        const auto message = [&](std::uint64_t count) { return active.play(count); };
        Row bound = row("shared_lock.time", "bound");
        bound.note = "a round trip of an active message";
        contestants.push_back(rounds(world_, bound, message, 1));
        return contest(world_, std::move(contestants), options_.budget);
    }

    Job& job_;
    JobWorld world_;
    SharedOptions options_;
    SecondHalf some_;
    std::string mechanism_;
    Batches batches_;
    std::uint64_t written_ = 0;
};

int measure_all(const SharedOptions& options) {
    Job job;
    return SharedPages(job, options).measure();
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) {
    using namespace kumiki;
    const auto options = bench::SharedOptions::parse(argc, argv);
    return measure::guarded("shared", [&] { return bench::measure_all(options); });
}
