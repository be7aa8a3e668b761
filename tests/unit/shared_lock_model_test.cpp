// Random programs with locks and barriers, compared with a sequential run.
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "support/build.hpp"
#include "support/shared_memory.hpp"
#include "support/watchdog.hpp"

namespace kumiki::dsm {
namespace {

using tests::Rank;
using tests::Watchdog;

class SharedLockModelTest : public testing::TestWithParam<FaultMechanism> {};

/// One random program without data races: each byte belongs either to a lock, under which anybody adds to it, or for
/// one interval between barriers to one rank. They are dealt byte by byte, so neighbours differ. Sums do not depend on
/// the order in which the ranks get the locks.
void run_random_program(Rank& rank, SharedMemory& memory, unsigned seed) {
    std::mt19937 engine(seed); // the same at every rank
    const auto random = [&engine] { return static_cast<unsigned>(engine()); };
    const std::size_t page = platform::page_size() << random() % 3;
    const std::size_t bytes = 1 + random() % (10 * page);
    auto placement = tests::every_placement[random() % std::size(tests::every_placement)];
    const bool open = random() % 3 == 0; // homes never fault; bytes often get back the value that they had
    if (open) placement = placement == Placement::cyclic ? placement : Placement::block;
    auto* const array = open ? static_cast<std::uint8_t*>(*memory.allocate_open(bytes, placement, explain::Use::array))
                             : tests::allocate_shared<std::uint8_t>(memory, bytes, placement, page);
    if (!open) {
        ASSERT_TRUE(memory.set_protocol(const_cast<std::uint8_t*>(array), tests::every_protocol[random() % 2]));
    }
    std::vector<std::uint8_t> expected(bytes);
    const auto ranks = static_cast<unsigned>(rank.size());
    const unsigned locks = 1 + random() % 6;
    const auto belongs_to = [&](std::size_t at) { return static_cast<unsigned>(at * 7 % (locks + ranks)); };
    for (int interval = 0; interval < 4; ++interval) {
        const unsigned deal = random();
        for (unsigned step = 0; step < ranks * 8; ++step) {
            const unsigned who = random() % ranks, lock = random() % locks;
            const std::size_t begin = random() % bytes, end = begin + random() % (bytes - begin + 1);
            const std::size_t stride = 1 + random() % 300;
            const auto addend = static_cast<std::uint8_t>(open ? random() & 0x80 : random());
            const bool mine = static_cast<int>(who) == rank.rank();
            const std::size_t wanted = random() % bytes; // with the lock, if that is possible
            tests::Lock held{memory, static_cast<int>(lock), const_cast<std::uint8_t*>(array + wanted)};
            std::unique_lock guard(held, std::defer_lock);
            if (mine) guard.lock();
            for (std::size_t at = begin; at < end; at += stride) {
                const unsigned owner = belongs_to(at);
                const bool own = owner >= locks && (owner + deal) % ranks == who;
                if (owner != lock && !own) continue;
                if (own && mine) {
                    ASSERT_EQ(array[at], expected[at]) << "seed " << seed << " homes " << static_cast<int>(placement)
                                                       << " interval " << interval << " byte " << at;
                }
                expected[at] = static_cast<std::uint8_t>(expected[at] + addend);
                if (mine) array[at] = static_cast<std::uint8_t>(array[at] + addend);
            }
        }
        ASSERT_TRUE(memory.barrier());
        for (std::size_t at = random() % 100; at < bytes; at += 1 + random() % 500)
            ASSERT_EQ(array[at], expected[at]) << "seed " << seed << " homes " << static_cast<int>(placement)
                                               << " interval " << interval << " byte " << at;
        ASSERT_TRUE(memory.barrier());
    }
    ASSERT_TRUE(memory.release(const_cast<std::uint8_t*>(array)));
}

TEST_P(SharedLockModelTest, RandomProgramsAgreeWithASequentialRun) {
    const Watchdog watchdog("random programs with locks");
    for (const auto& [ranks, hosts] : {std::pair{2, 1}, {3, 1}, {2, 2}, {3, 2}, {3, 3}}) {
        const unsigned first = std::random_device{}();
        tests::run_with_copies(GetParam(), {.ranks = ranks, .hosts = hosts}, [&](Rank& rank, SharedMemory& memory) {
            for (unsigned program = 0; program < tests::programs(15); ++program)
                run_random_program(rank, memory, first + program);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, SharedLockModelTest, tests::every_mechanism, tests::mechanism_name);

} // namespace
} // namespace kumiki::dsm
