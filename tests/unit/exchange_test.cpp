#include <functional>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <thread>

#include "fabric/wireup/exchange.hpp"
#include "support/board.hpp"

namespace kumiki::fabric {
namespace {

using tests::Board;

/// Runs `body` for each rank of the board, each in a thread of its own.
void for_all(Board& board, int ranks, const std::function<void(Exchange&)>& body) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            Exchange exchange(board.space(rank));
            body(exchange);
        });
}

RC_GTEST_PROP(ExchangeTest, AnyBytesArriveInPiecesOfAnyLength, (const std::string& bytes)) {
    Board board(2, *rc::gen::inRange<std::size_t>(5, 200));
    for_all(board, 2, [&](Exchange& exchange) {
        const std::string own = exchange.rank() == 0 ? bytes : "other";
        EXPECT_EQ(exchange.all(own).value(), (std::vector{bytes, std::string("other")}));
    });
}

TEST(ExchangeTest, EachRoundHasValuesOfItsOwn) {
    Board board(3);
    for_all(board, 3, [](Exchange& exchange) {
        const auto word = [](int rank, int round) { return std::to_string(rank * 10 + round); };
        for (int round = 0; round < 5; ++round) {
            const auto told = exchange.all(word(exchange.rank(), round)).value();
            ASSERT_EQ(told, (std::vector{word(0, round), word(1, round), word(2, round)}));
        }
    });
}

TEST(ExchangeTest, ASecondExchangeOfTheSameRankIsNoticed) {
    Board board(1);
    EXPECT_FALSE(Exchange(board.space(0)).is_spent());
    ASSERT_TRUE(Exchange(board.space(0)).all(""));
    EXPECT_TRUE(Exchange(board.space(0)).is_spent());
    EXPECT_FALSE(Exchange(board.space(0)).all("")) << "no key is written twice";
}

/// What rank 0 receives from rank 1, whose first value is replaced.
Result<std::string> told(const std::string& first_value) {
    Board board(2, 24);
    board.spoil = [&](const std::string& key, std::string value) {
        return key == "kumiki-1-1-0" ? first_value : value;
    };
    Result<std::string> seen;
    for_all(board, 2, [&](Exchange& exchange) {
        ASSERT_TRUE(exchange.tell("some bytes in two pieces"));
        if (exchange.rank() == 0) seen = exchange.told_by(1);
    });
    return seen;
}

TEST(ExchangeTest, WhatIsNotOursIsRefusedAndItsRankNamed) {
    EXPECT_EQ(told("0001"
                   "6869")
                  .value(),
              "hi")
        << "the test itself";
    for (const std::string damaged :
         {"", "001", "0000", "0001686", "000168zz", "00 16869", "another program's value", "+001", "0001-1"}) {
        const auto seen = told(damaged);
        ASSERT_FALSE(seen) << damaged;
        EXPECT_EQ(seen.error().status, KUMIKI_ERROR_ENVIRONMENT);
        EXPECT_NE(seen.error().message.find("what rank 1 told"), std::string::npos) << seen.error().message;
    }
    EXPECT_FALSE(told("ffff")) << "pieces that are not there";
}

TEST(ExchangeTest, ARankThatEndsEarlyIsMissed) {
    Board board(2);
    std::jthread dead([&] { board.leave(); });
    const auto all = Exchange(board.space(0)).all("here");
    ASSERT_FALSE(all);
    EXPECT_NE(all.error().message.find("kumiki-1-1-0"), std::string::npos) << all.error().message;
}

} // namespace
} // namespace kumiki::fabric
