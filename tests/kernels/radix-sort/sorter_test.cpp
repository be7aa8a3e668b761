#include "kernels/radix-sort/sorter.hpp"

#include <gtest/gtest.h>

#include "kernels/crews/one_memory/key_exchange.hpp"
#include "kernels/radix-sort/task.hpp"

namespace kumiki::kernels::radix_sort {
namespace {

std::vector<Kernel> built_kernels() {
    std::vector<Kernel> there{Kernel::plain};
    if (has_vector_kernel()) there.push_back(Kernel::vector);
    return there;
}

TEST(Sorter, sorts_again_and_again_with_any_number_of_workers) {
    for (const Kernel kernel : built_kernels())
        for (const Distribution distribution : all_distributions)
            for (const int workers : {1, 2, 5})
                for (const std::uint64_t keys : {0, 3, 10'007}) {
                    OpenMpCrew crew(workers);
                    Sorter sorter(crew, kernel, distribution, keys);
                    for (int run = 0; run < 2; ++run) {
                        sorter.run();
                        ASSERT_TRUE(sorter.verified()) << name(kernel) << ", " << name(distribution) << ", " << workers
                                                       << " workers, " << keys << " keys, run " << run;
                    }
                }
}

/// A crew that adds up wrongly in its first run, in which the sorter learns which keys there are.
class Miscounting : public SequentialCrew {
public:
    struct Worker : SequentialCrew::Worker {
        explicit Worker(std::uint64_t error) : error_(error) {}
        using SequentialCrew::Worker::sum;
        std::uint64_t sum(std::uint64_t value) const { return value + error_; }
        std::uint64_t error_;
    };
    template <class Body>
    RunTimes run(Body body) {
        Worker worker(runs_++ == 0 ? 1 : 0);
        return timed(worker, body);
    }

private:
    int runs_ = 0;
};

TEST(MeasureOn, fails_when_keys_are_not_those_that_were_there) {
    Task task;
    task.keys = 1000;
    task.kernel = Kernel::plain;
    task.budget = {.samples = 3, .seconds = 0};
    const auto code_of = [&](auto crew) {
        testing::internal::CaptureStdout();
        const int code = measure_on(crew, task);
        return std::pair{code, testing::internal::GetCapturedStdout()};
    };
    const auto [good, good_output] = code_of(SequentialCrew());
    EXPECT_EQ(good, measure::success);
    EXPECT_NE(good_output.find("\"validated\":true"), std::string::npos);
    const auto [bad, bad_output] = code_of(Miscounting());
    EXPECT_EQ(bad, measure::validation_failed);
    EXPECT_NE(bad_output.find("\"validated\":false"), std::string::npos);
}

} // namespace
} // namespace kumiki::kernels::radix_sort
