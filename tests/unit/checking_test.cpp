// Checks that depend on earlier messages: the parts of the network that keep state. All other defects of a message, and
// that none of them does harm, are tested in stranger_fuzz_test.cpp.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

#include "fabric/network/burst.hpp"
#include "fabric/network/credits.hpp"
#include "fabric/network/held_back.hpp"
#include "fabric/network/hosts_barrier.hpp"
#include "fabric/network/collective_inbox.hpp"
#include "fabric/network/message_sinks.hpp"
#include "fabric/network/tickets.hpp"

namespace kumiki::fabric {
namespace {

TEST(CheckingTest, ATicketThatWasClosedFindsNothing) {
    Tickets<int> tickets;
    int one = 1, two = 2;
    const auto first = tickets.open(one);
    EXPECT_NE(first, 0u);
    EXPECT_EQ(tickets.find(first), &one);
    EXPECT_EQ(tickets.find(first + 1), nullptr);
    EXPECT_EQ(tickets.find(0), nullptr);
    EXPECT_EQ(tickets.find(~std::uint64_t{0}), nullptr);
    tickets.close(first);
    tickets.close(first); // has no effect
    const auto second = tickets.open(two), third = tickets.open(one);
    EXPECT_EQ(tickets.find(first), nullptr) << "its place is used again, its number is not";
    EXPECT_EQ(tickets.find(second), &two);
    EXPECT_EQ(tickets.find(third), &one);
}

TEST(CheckingTest, ALetterComesInOrderOrNotAtAll) {
    CollectiveInbox inbox;
    const std::array<std::byte, 8> bytes{};
    const auto part = [&](std::uint64_t offset, std::size_t length, std::uint64_t whole) {
        MessageHeader header{.kind = MessageKind::collective, .source = 3};
        header.offset = offset;
        header.bytes = whole;
        header.ticket = 7;
        return inbox.take(header, std::span(bytes).first(length));
    };
    EXPECT_EQ(part(4, 4, 8), std::nullopt) << "does not begin at the beginning";
    EXPECT_EQ(part(0, 8, std::uint64_t{1} << 60), std::optional(false)) << "promises are not believed with memory";
    EXPECT_EQ(part(8, 8, 16), std::nullopt) << "the whole has another length now";
    EXPECT_EQ(part(0, 8, std::uint64_t{1} << 60), std::nullopt) << "came before";
    EXPECT_EQ(part(8, 8, std::uint64_t{1} << 60), std::optional(false));
    EXPECT_EQ(inbox.remove(3, 7)->store(), std::uint64_t{1} << 60);
    EXPECT_EQ(part(0, 8, 8), std::optional(true));
    EXPECT_EQ(part(0, 0, 8), std::nullopt) << "it is whole";
}

TEST(CheckingTest, HostsTellOfABarrierInTheirTurn) {
    std::uint64_t done = 0;
    HostsBarrier barrier(4, 0, [](int, int, std::uint64_t) {}, [&](std::uint64_t epoch) { done = epoch; });
    EXPECT_FALSE(barrier.heard(1, 0, 1)) << "host 1 tells host 2 in round 0";
    EXPECT_FALSE(barrier.heard(3, 2, 1)) << "there are two rounds";
    EXPECT_FALSE(barrier.heard(3, ~std::uint64_t{0}, 1));
    EXPECT_FALSE(barrier.heard(3, 0, 2)) << "this host has not entered the first";
    EXPECT_FALSE(barrier.heard(3, 0, 0));
    EXPECT_TRUE(barrier.can_enter(1));
    EXPECT_FALSE(barrier.can_enter(2));
    EXPECT_TRUE(barrier.heard(3, 0, 1));
    EXPECT_FALSE(barrier.heard(3, 0, 1)) << "it has said so";
    EXPECT_TRUE(barrier.heard(2, 1, 1));
    EXPECT_EQ(done, 0u);
    barrier.enter(1);
    EXPECT_EQ(done, 1u);
    EXPECT_TRUE(barrier.heard(3, 0, 2)) << "it may be one barrier ahead";
}

TEST(CheckingTest, CreditIsForWhatWasSent) {
    Credits credits(2);
    EXPECT_TRUE(credits.take(1));
    EXPECT_TRUE(credits.take(1));
    EXPECT_FALSE(credits.give_back(1, 3));
    EXPECT_TRUE(credits.give_back(1, 2));
    EXPECT_FALSE(credits.give_back(1, 1)) << "it had taken more";
}

TEST(CheckingTest, ABurstMayEndAnywhere) {
    Burst burst;
    const std::array<std::byte, 20> payload{};
    for (int i = 0; i < 3; ++i) burst.add({.kind = MessageKind::put}, payload, 1 << 10);
    const auto bytes = burst.take();
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        std::size_t messages = 0;
        const bool whole = Burst::open(std::span(bytes).first(length), [&](const MessageHeader&, auto part) {
            ++messages;
            EXPECT_EQ(part.size(), payload.size());
        });
        EXPECT_EQ(messages, length / (bytes.size() / 3));
        EXPECT_EQ(whole, length % (bytes.size() / 3) == 0);
    }
}

TEST(HeldBackTest, KnowsTheRanksThatHaveSomething) {
    HeldBack held(5);
    const std::array<std::byte, 8> bytes{};
    EXPECT_FALSE(held.any());
    for (const int rank : {4, 0, 2, 0}) held.add(rank, {}, bytes);
    EXPECT_TRUE(held.has(0) && held.has(2) && held.has(4) && !held.has(1) && !held.has(3));
    EXPECT_EQ(held.take(0).size(), 2 * (sizeof(MessageHeader) + bytes.size()));
    EXPECT_FALSE(held.has(0));
    held.add(1, {}, bytes);
    std::vector<int> left;
    while (held.any()) {
        left.push_back(held.first());
        EXPECT_FALSE(held.take(left.back()).empty());
    }
    std::ranges::sort(left);
    EXPECT_EQ(left, (std::vector{1, 2, 4}));
}

/// Keeps the messages that it gets, and refuses those of 3 bytes.
struct Keeping final : MessageSink {
    bool receive(const MessageHeader&, std::span<const std::byte> payload) override {
        lengths.push_back(payload.size());
        return payload.size() != 3;
    }
    void left(std::uint64_t ticket) override { tickets.push_back(ticket); }
    bool pump() override { return true; }
    std::vector<std::size_t> lengths;
    std::vector<std::uint64_t> tickets;
};

TEST(MessageSinksTest, WhatComesBeforeItsFloorIsKeptAndWhatComesAfterItIsNot) {
    MessageSinks sinks;
    const std::array<std::byte, 8> bytes{};
    const auto send = [&](std::size_t length) { return sinks.receive({}, std::span(bytes).first(length)); };
    EXPECT_TRUE(send(2) && send(3)) << "nobody knows yet what fits";
    EXPECT_FALSE(sinks.pump());
    Keeping sink;
    int dropped = 0;
    sinks.admit(SinkId::messages, sink, [&](const MessageHeader&) { ++dropped; });
    EXPECT_EQ(sink.lengths, (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(dropped, 1);
    EXPECT_TRUE(send(4) && !send(3) && sinks.pump());
    sinks.left(SinkId::messages, 9);
    EXPECT_EQ(sink.tickets, (std::vector<std::uint64_t>{9}));
    sinks.dismiss(SinkId::messages);
    EXPECT_TRUE(send(5) && !sinks.pump());
    sinks.left(SinkId::messages, 10);
    EXPECT_EQ(sink.lengths.size(), 4u);
    EXPECT_EQ(sink.tickets.size(), 1u);
}

} // namespace
} // namespace kumiki::fabric
