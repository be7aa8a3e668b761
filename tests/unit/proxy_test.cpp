#include <array>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "fabric/wireup/exchange.hpp"
#include "fabric/wireup/proxy.hpp"
#include "support/board.hpp"

namespace kumiki::fabric {
namespace {

using tests::Board;
using Space = std::shared_ptr<KeyValueSpace>;

/// A proxy that is a thread, and the rank's end of the socket to it.
class Serving {
public:
    explicit Serving(Result<Space> space, pid_t rank = getpid()) {
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_.data());
        thread_ = std::thread([this, rank, space = std::move(space)] {
            finalized_ = serve(space, ends_[1], rank);
            close(ends_[1]);
        });
    }
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;
    ~Serving() { end(); }

    int socket() const { return ends_[0]; }
    void hang_up() { shutdown(ends_[0], SHUT_RDWR); }
    /// Waits for the proxy: whether the rank finalized.
    bool end() {
        if (thread_.joinable()) {
            thread_.join();
            close(ends_[0]);
        }
        return finalized_;
    }

private:
    std::array<int, 2> ends_{};
    bool finalized_ = false;
    std::thread thread_;
};

TEST(ProxyTest, RanksExchangeThroughTheirProxies) {
    constexpr int ranks = 3;
    Board board(ranks);
    std::vector<std::string> expected{std::string(100'000, 'a'), "", "two words"};
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            Serving proxy(board.space(rank));
            {
                Exchange exchange(adopt_proxy(proxy.socket()).value());
                EXPECT_EQ(exchange.rank(), rank);
                EXPECT_EQ(exchange.size(), ranks);
                EXPECT_FALSE(exchange.is_spent());
                EXPECT_EQ(exchange.all(expected[static_cast<std::size_t>(rank)]).value(), expected);
                EXPECT_TRUE(exchange.is_spent());
            }
            proxy.hang_up();
            EXPECT_FALSE(proxy.end()) << "the rank did not finalize";
        });
}

TEST(ProxyTest, WhatTheProxyCannotDoTheRankIsTold) {
    Serving without(fail(KUMIKI_ERROR_ENVIRONMENT, "the space of PMIx is not there"));
    const auto none = adopt_proxy(without.socket());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message, "the space of PMIx is not there");

    Board board(1);
    Serving proxy(board.space(0));
    const auto space = adopt_proxy(proxy.socket()).value();
    ASSERT_TRUE(space->put("key", "value"));
    const auto again = space->put("key", "value");
    ASSERT_FALSE(again) << "no key is written twice";
    EXPECT_EQ(again.error().message, board.space(0)->put("key", "value").error().message);
    proxy.hang_up();
}

TEST(ProxyTest, AProxyThatEndsIsNoticed) {
    Board board(1);
    Serving proxy(board.space(0));
    const auto space = adopt_proxy(proxy.socket()).value();
    proxy.hang_up();
    const auto asked = space->fence();
    ASSERT_FALSE(asked);
    EXPECT_NE(asked.error().message.find("has ended"), std::string::npos) << asked.error().message;
}

TEST(ProxyTest, ARankThatHasEndedIsNoticedThoughAChildOfItHoldsTheSocket) {
    const pid_t rank = fork();
    if (rank == 0) {
        pause();
        _exit(0);
    }
    Board board(1);
    Serving proxy(board.space(0), rank); // the end of the socket stays open here
    kill(rank, SIGKILL);
    EXPECT_FALSE(proxy.end());
    waitpid(rank, nullptr, 0);
}

TEST(ProxyTest, FinalizeEndsTheProxyWell) {
    Board board(1);
    Serving proxy(board.space(0));
    send(proxy.socket(), "finalize", 8, 0);
    EXPECT_TRUE(proxy.end());
}

TEST(ProxyTest, AProgramThatIsNotThereIsNamed) {
    const auto space = open_proxy("/no/such/program");
    ASSERT_FALSE(space);
    EXPECT_EQ(space.error().message, "cannot start /no/such/program: No such file or directory");
}

} // namespace
} // namespace kumiki::fabric
