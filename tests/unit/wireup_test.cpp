#include <array>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "fabric/wireup/meeting.hpp"
#include "fabric/wireup/wireup.hpp"
#include "support/board.hpp"

namespace kumiki::fabric {
namespace {

using Cards = std::vector<std::vector<std::byte>>;

/// kumiki-run's end of a socket, and the end for a rank of two.
class Launcher {
public:
    Launcher() { socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()); }
    ~Launcher() { hang_up(); }
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    /// The cards that the rank receives when it sends its own.
    Result<Cards> wire_up(const std::vector<std::byte>& card = std::vector<std::byte>(3)) const {
        Settings settings;
        settings.size = 2;
        settings.wireup = ends_[1];
        return wireup_of(settings)(card);
    }
    void say(const std::string& text) const {
        EXPECT_EQ(write(ends_[0], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void hang_up() {
        if (ends_[0] >= 0) close(std::exchange(ends_[0], -1));
    }

private:
    std::array<int, 2> ends_{};
};

std::string on_the_wire(std::uint32_t length, const std::string& bytes) {
    std::string text(sizeof length, ' ');
    std::memcpy(text.data(), &length, sizeof length);
    return text + bytes;
}

void expect_failure(const Result<Cards>& cards, std::string_view words) {
    ASSERT_FALSE(cards);
    EXPECT_EQ(cards.error().status, KUMIKI_ERROR_ENVIRONMENT);
    EXPECT_NE(cards.error().message.find(words), std::string::npos) << cards.error().message;
}

TEST(WireupTest, ARankGetsTheCardsOfAll) {
    const Launcher launcher;
    launcher.say(on_the_wire(1, "a") + on_the_wire(0, ""));
    EXPECT_EQ(launcher.wire_up().value(), (Cards{{std::byte{'a'}}, {}}));
}

TEST(WireupTest, ALauncherThatEndsEarlyIsNoticed) {
    for (const std::string& said : {std::string(), std::string("\1"), on_the_wire(2, "a"), on_the_wire(1, "a")}) {
        Launcher launcher;
        launcher.say(said);
        launcher.hang_up();
        expect_failure(launcher.wire_up(), "the launcher ended before all ranks had found each other");
    }
}

TEST(WireupTest, WhatIsNoCardIsRefused) {
    const Launcher launcher;
    launcher.say("no launcher says this");
    expect_failure(launcher.wire_up(), "it is set by the launcher, not by hand");
}

TEST(WireupTest, ADescriptorThatIsNoSocketIsRefused) {
    Settings settings;
    expect_failure(wireup_of(settings)({}), "start it by kumiki-run --hosts");
    settings.wireup = 7777;
    expect_failure(wireup_of(settings)({}), "KUMIKI_WIREUP=7777: Bad file descriptor");
}

/// The settings that ranks of one host get if another launcher has started them, each rank a thread.
std::vector<Result<OthersJob>> jobs_of(tests::Board& board, int ranks, std::uint64_t arena_bytes) {
    std::vector<Result<OthersJob>> jobs(static_cast<std::size_t>(ranks));
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            Settings settings;
            settings.arena_bytes = arena_bytes;
            jobs[static_cast<std::size_t>(rank)] = meet(Exchange(board.space(rank)), settings);
        });
    threads.clear();
    return jobs;
}

void expect_failure(const Result<OthersJob>& job, std::string_view words) {
    ASSERT_FALSE(job);
    EXPECT_NE(job.error().message.find(words), std::string::npos) << job.error().message;
}

constexpr std::uint64_t arena = std::uint64_t{4} << 20;

TEST(MeetingTest, RanksOfAHostShareItsMemory) {
    tests::Board board(3);
    const auto jobs = jobs_of(board, 3, arena);
    for (const auto& job : jobs) ASSERT_TRUE(job) << job.error().message;
    jobs[0]->segment->arena(2)[5] = std::byte{42};
    EXPECT_EQ(jobs[2]->segment->arena(2)[5], std::byte{42});
    EXPECT_EQ(jobs[1]->segment->ranks(), 3);
}

TEST(MeetingTest, AllRanksFailWhereOneDoes) {
    tests::Board board(3);
    // Rank 0 claims that its memory is behind descriptor 99999.
    board.spoil = [](const std::string& key, std::string value) {
        return key == "kumiki-2-0-0" ? "00013939393939" : value;
    };
    const auto jobs = jobs_of(board, 3, arena);
    expect_failure(jobs[0], "rank 1 cannot join: cannot open the memory that rank 0 shares with this host");
    expect_failure(jobs[1], "cannot open the memory that rank 0 shares");
}

TEST(MeetingTest, WithoutMemoryAllRanksSayWhy) {
    tests::Board board(2);
    for (const auto& job : jobs_of(board, 2, std::uint64_t{1} << 60))
        expect_failure(job, "is more than the address space has");
}

TEST(MeetingTest, AStrangerAmongTheRanksIsRefusedByAll) {
    tests::Board board(2);
    board.spoil = [](const std::string& key, std::string value) {
        return key == "kumiki-1-1-0" ? "0001" : value; // no introduction
    };
    for (const auto& job : jobs_of(board, 2, arena)) expect_failure(job, "start the same program");
}

} // namespace
} // namespace kumiki::fabric
