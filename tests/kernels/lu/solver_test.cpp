#include "kernels/lu/solver.hpp"

#include <gtest/gtest.h>

#include "kernels/crews/one_memory/blocks.hpp"

namespace kumiki::kernels::lu {
namespace {

TEST(Solver, leaves_the_same_bits_for_every_number_of_workers_and_whoever_touches) {
    constexpr Problem small{75, 16};
    SequentialCrew alone;
    Solver sequential(alone, small, Touch::owners);
    sequential.run();
    const Result wanted = sequential.result();
    EXPECT_TRUE(wanted.right()) << wanted.residual;
    for (const Touch touch : {Touch::owners, Touch::one})
        for (const int workers : {1, 2, 3, 4, 6, 30}) {
            OpenMpCrew crew(workers);
            Solver solver(crew, small, touch);
            for (int run = 0; run < 2; ++run) {
                solver.run();
                const Result found = solver.result();
                EXPECT_EQ(found.checksum, wanted.checksum) << workers << ", run " << run;
                EXPECT_TRUE(found.right()) << found.residual;
            }
        }
}

TEST(Solver, rounding_stays_far_below_the_tolerance) {
    for (const std::size_t size : {1, 8, 100, 500}) {
        SequentialCrew crew;
        Solver solver(crew, Problem{size, 32}, Touch::owners);
        solver.run();
        EXPECT_LT(solver.result().residual, Result::most_residual / 4) << size;
    }
}

/// A crew that delivers one number of one block wrong.
class Spoiling : public SequentialCrew {
public:
    class Blocks : public SequentialCrew::Blocks {
    public:
        Blocks(const Spoiling& crew, const BlockPlan& plan)
            : SequentialCrew::Blocks(crew, plan), spoilt_(plan.rounds[3].front().block), error_(crew.error_) {}
        void deliver(Worker& worker, std::size_t round) {
            if (round == 3) at(spoilt_)[5] += error_;
            SequentialCrew::Blocks::deliver(worker, round);
        }

    private:
        std::size_t spoilt_;
        double error_;
    };

    explicit Spoiling(double error) : error_(error) {}

private:
    double error_;
};

TEST(Solver, one_wrong_number_is_found) {
    for (const double error : {0.0, 1e-8, -1e-3, std::nan("")}) {
        Spoiling crew(error);
        Solver solver(crew, Problem{200, 32}, Touch::owners);
        solver.run();
        EXPECT_EQ(solver.result().right(), error == 0) << error << ": " << solver.result().residual;
    }
}

} // namespace
} // namespace kumiki::kernels::lu
