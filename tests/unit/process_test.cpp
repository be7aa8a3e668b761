// Ranks as real processes that die: the others can be ended, and nothing stays behind.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kumiki/kumiki.hpp"
#include "platform/descriptor.hpp"
#include "platform/peer_memory.hpp"
#include "platform/process.hpp"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"

namespace kumiki {
namespace {

using namespace std::chrono_literals;
using tests::Processes;

std::set<std::string> names_in_dev_shm() {
    std::set<std::string> names;
    if (std::filesystem::exists("/dev/shm"))
        for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) names.insert(entry.path().filename());
    return names;
}

/// Bytes of shared memory in use on this host.
std::size_t shared_memory() {
    std::ifstream information("/proc/meminfo");
    for (std::string name, rest; information >> name && std::getline(information, rest);)
        if (name == "Shmem:") return std::stoull(rest) * 1024;
    return 0;
}

/// All operations of a rank with others, forever.
void work(int rank) {
    Job job;
    auto region = job.allocate<std::uint64_t>(1000);
    const int handler = job.on_message([](int, std::span<const std::byte>) {});
    std::vector<std::uint64_t> values(1000);
    const int next = (rank + 1) % job.size();
    for (;;) {
        job.put(next, region.data(), values);
        job.send_active(next, handler, rank);
        job.all_reduce(std::span(values).first(3), Operation::max);
        job.barrier();
        job.all_reduce(std::span(values), Operation::max);
    }
}

class KillTest : public testing::TestWithParam<std::tuple<WaitPolicy, bool>> {};
INSTANTIATE_TEST_SUITE_P(Policies, KillTest,
                         testing::Combine(testing::Values(WaitPolicy::adaptive, WaitPolicy::spin, WaitPolicy::sleep),
                                          testing::Bool()));

TEST_P(KillTest, AfterTheDeathOfARankTheOthersCanBeEndedAtAnyMoment) {
    const auto [wait, crowded] = GetParam();
    tests::Random random(3);
    for (std::size_t round = 0; round < tests::rounds(10); ++round) {
        Processes ranks;
        tests::start_programs(ranks, {.ranks = 3, .crowded = crowded, .wait = wait}, work);
        std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, 20000)));
        const int victim = random.between(0, 2);
        ranks.kill(victim, SIGKILL);
        const auto ending = ranks.ended_within(victim, 5s);
        ASSERT_TRUE(ending);
        EXPECT_EQ(ending->signal, SIGKILL);
        std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, 5000)));
        for (int other = 0; other < 3; ++other) {
            if (other == victim) continue;
            ranks.kill(other, SIGTERM); // SIGTERM is enough
            const auto ended = ranks.ended_within(other, 2s);
            ASSERT_TRUE(ended) << "rank " << other << " does not end";
            EXPECT_EQ(ended->signal, SIGTERM);
        }
    }
}

TEST(ProcessTest, MemoryOfAProcessThatHasGoneIsNotTakenForAWrongAddress) {
    using platform::PeerCopy;
    const std::uint64_t number = 7;
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(&number); // the child's is at the same address
    std::uint64_t copy = 0;
    auto* const into = reinterpret_cast<std::byte*>(&copy);
    const PeerCopy living = platform::read_peer(child, address, into, sizeof copy);
    if (living == PeerCopy::done) {
        EXPECT_EQ(copy, number);
    }
    EXPECT_EQ(platform::read_peer(child, 8, into, sizeof copy), PeerCopy::refused);
    kill(child, SIGKILL);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT); // the process still exists as a zombie
    EXPECT_EQ(platform::read_peer(child, address, into, sizeof copy), PeerCopy::gone);
    EXPECT_EQ(platform::write_peer(child, address, into, sizeof copy), PeerCopy::gone);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(platform::read_peer(child, address, into, sizeof copy), PeerCopy::gone);
}

TEST(ProcessTest, AProcessIsEndingIfAllItsThreadsAre) {
    platform::Pipe live = platform::Pipe::create();
    const pid_t child = fork();
    if (child == 0) {
        std::thread([descriptor = live.read.get()] {
            char byte;
            _exit(read(descriptor, &byte, 1) == 1 ? 0 : 1);
        }).detach();
        syscall(SYS_exit, 0); // of this thread alone; the system now says that the process is a zombie
    }
    while (platform::status_of(child)->state != platform::ProcessStatus::State::dead) std::this_thread::sleep_for(1ms);
    EXPECT_FALSE(platform::is_ending(child));
    EXPECT_EQ(write(live.write.get(), "x", 1), 1);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
    EXPECT_TRUE(platform::is_ending(child));
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(platform::is_ending(child)) << "it has gone";
}

TEST(ProcessTest, TheMemoryOfAKilledJobIsGone) {
    static constexpr std::size_t bytes = std::size_t{512} << 20;
    const auto names = names_in_dev_shm();
    Processes ranks;
    const auto start = [&] {
        tests::start_programs(ranks, {.ranks = 2, .arena_bytes = bytes}, [](int) {
            Job job;
            auto region = job.allocate<std::byte>(bytes / 2);
            std::memset(region.data(), 1, region.size());
            job.barrier();
            kill(getpid(), SIGKILL);
        });
    };
    const std::size_t before = shared_memory();
    // One rank is held at the barrier until both have touched their memory; then both die.
    start();
    std::size_t most = before;
    for (int rank = 0; rank < 2; ++rank)
        while (!ranks.ended_within(rank, 1ms)) most = std::max(most, shared_memory());
    EXPECT_GT(most, before + bytes / 4) << "the check itself: the memory was seen";
    const auto gone = [&] { return shared_memory() < before + bytes / 4; };
    // Other programs of this machine take such memory, too, but not for ever.
    for (int tries = 0; !gone() && tries < 300; ++tries) std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(gone()) << "what remains is not theirs";
    // They make names, too.
    std::set<std::string> left = names_in_dev_shm();
    std::erase_if(left, [&](const std::string& name) { return names.contains(name); });
    for (int tries = 0; !left.empty() && tries < 300; ++tries) {
        std::this_thread::sleep_for(100ms);
        std::erase_if(left, [now = names_in_dev_shm()](const std::string& name) { return !now.contains(name); });
    }
    EXPECT_EQ(left, std::set<std::string>{}) << "no names are left behind";
}

} // namespace
} // namespace kumiki
