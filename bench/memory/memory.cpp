// memory: the bandwidth of T threads that read, write and copy arrays of their own (COMPaS paper, Table 1).
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/contest.hpp"
#include "bench/memory/crew.hpp"
#include "bench/memory/sweep.hpp"
#include "measure/program.hpp"

namespace kumiki::bench {
namespace {

struct Options {
    int threads = 1;
    std::size_t bytes = std::size_t{256} << 20;
    Budget budget;
};

using Array = std::unique_ptr<double[], decltype(&std::free)>;

/// Elements taken directly from the operating system; their pages are placed near the thread that first touches them.
Array make_array(std::size_t elements) {
    constexpr std::size_t page = 4096;
    const std::size_t bytes = (elements * sizeof(double) + page - 1) / page * page;
    auto* memory = static_cast<double*>(std::aligned_alloc(page, bytes));
    if (memory == nullptr)
        throw std::runtime_error("no memory for an array of " + std::to_string(bytes) +
                                 " bytes; give a smaller --bytes");
    return Array(memory, &std::free);
}

/// The arrays of one thread.
class Lane {
public:
    explicit Lane(std::size_t elements)
        : elements_(elements), source_(make_array(elements)), destination_(make_array(elements)) {}

    /// Elements are small whole numbers, so that every order of additions gives the same sum.
    void fill() {
        for (std::size_t i = 0; i < elements_; ++i) source_[i] = static_cast<double>(i % 1024);
        clear();
    }
    void clear() { sweep_write(destination(), -1.0); }

    std::span<const double> source() const { return {source_.get(), elements_}; }
    std::span<double> destination() const { return {destination_.get(), elements_}; }

    bool copied() const { return std::equal(source().begin(), source().end(), destination().begin()); }
    bool holds(double value) const {
        return std::all_of(destination().begin(), destination().end(),
                           [value](double element) { return element == value; });
    }
    bool is_sum(double sum) const {
        const std::size_t whole = elements_ / 1024, rest = elements_ % 1024;
        return sum == static_cast<double>(whole * (1024 * 1023 / 2) + rest * (rest - 1) / 2 * (rest != 0));
    }

private:
    std::size_t elements_;
    Array source_, destination_;
};

class Memory {
public:
    explicit Memory(const Options& options) : options_(options), crew_(options.threads) {
        const std::size_t step = sweep_step * sizeof(double);
        const std::size_t share = options.bytes / static_cast<std::size_t>(options.threads) / step * sweep_step;
        if (share == 0)
            throw std::runtime_error("--bytes leaves less than " + std::to_string(step) + " bytes to each thread");
        for (int thread = 0; thread < options.threads; ++thread) lanes_.emplace_back(share);
        crew_.run([this](int thread) { lane(thread).fill(); });
        moved_ = static_cast<double>(share * sizeof(double)) * options.threads;
    }

    int measure() {
        std::vector<double> sums(lanes_.size());
        std::vector<Contestant> contestants;
        const auto read = [&sums](const Lane& own, std::size_t thread) { sums[thread] = sweep_read(own.source()); };
        const auto was_read = [&sums](const Lane& own, std::size_t thread) { return own.is_sum(sums[thread]); };
        contestants.push_back(contestant("memory.read", 1, read, was_read));
        contestants.push_back(contestant(
            "memory.write", 1, [](const Lane& own, std::size_t) { sweep_write(own.destination(), 2.5); },
            [](const Lane& own, std::size_t) { return own.holds(2.5); }));
        add_copy(contestants, "memory.copy", sweep_copy);
        add_copy(contestants, "memory.memcpy", sweep_memcpy);
        if (has_nontemporal()) add_copy(contestants, "memory.nontemporal", sweep_nontemporal);
        Alone world{crew_.oversubscribed()};
        return contest(world, std::move(contestants), options_.budget);
    }

private:
    Lane& lane(int thread) { return lanes_[static_cast<std::size_t>(thread)]; }

    void add_copy(std::vector<Contestant>& contestants, const char* metric,
                  void (*copy)(std::span<const double>, std::span<double>)) {
        contestants.push_back(contestant(
            metric, 2, [copy](const Lane& own, std::size_t) { copy(own.source(), own.destination()); },
            [](const Lane& own, std::size_t) { return own.copied(); }));
    }

    /// `passes`: a copy moves its bytes twice, once in and once out, and is counted accordingly (as in STREAM). The
    /// first sample is checked.
    template <class Sweep, class Check>
    Contestant contestant(const char* metric, int passes, Sweep sweep, Check check) {
        Row row{.metric = metric,
                .implementation = "kumiki",
                .parameters = {},
                .unit = "GB/s",
                .better = measure::Better::higher,
                .samples = {}};
        row.parameters = {{"threads", std::int64_t{options_.threads}},
                          {"bytes", static_cast<std::int64_t>(options_.bytes)}};
        return {std::move(row), [=, this, first = true]() mutable {
                    const double seconds = crew_.run([&](int t) { sweep(lane(t), static_cast<std::size_t>(t)); });
                    const Sample sample{moved_ * passes / seconds / 1e9, !first || all_right(check)};
                    first = false;
                    return sample;
                }};
    }

    template <class Check>
    bool all_right(Check check) {
        bool right = true;
        for (std::size_t thread = 0; thread < lanes_.size(); ++thread) right = right && check(lanes_[thread], thread);
        crew_.run([this](int thread) { lane(thread).clear(); });
        return right;
    }

    Options options_;
    Crew crew_;
    std::vector<Lane> lanes_;
    double moved_ = 0;
};

int run(int argc, char** argv) {
    Options options;
    CLI::App program{"Measures what the memory delivers to a number of threads, each with arrays of its own; one row "
                     "per way of access."};
    program.add_option("--threads", options.threads, "number of threads")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    program
        .add_option("--bytes", options.bytes,
                    "size of the source, and of the destination, of all threads; far above the caches")
        ->transform(CLI::AsSizeValue(false))
        ->capture_default_str();
    options.budget.add_to(program);
    measure::parse_or_exit(program, argc, argv);
    return measure::guarded("memory", [&] { return Memory(options).measure(); });
}

} // namespace
} // namespace kumiki::bench

int main(int argc, char** argv) { return kumiki::bench::run(argc, argv); }
