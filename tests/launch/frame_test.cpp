#include "launch/protocol/frame.hpp"

#include <gtest/gtest.h>

#include "launch/protocol/message.hpp"

namespace kumiki::launch {
namespace {

TEST(Frame, IsLengthTypeAndPayload) {
    EXPECT_EQ(wire_form({0x0102, "abc"}), std::string("\x03\0\0\0\x02\x01\0\0abc", 11));
}

TEST(Frame, ComesTogetherFromSingleBytes) {
    const auto bytes = wire_form({1, "first"}) + wire_form({2, ""}) + wire_form({3, std::string(100'000, 'x')});
    FrameReader reader(true);
    std::vector<Frame> frames;
    for (const char byte : bytes) {
        reader.add({&byte, 1});
        while (auto frame = reader.next()) frames.push_back(*frame);
    }
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].payload, "first");
    EXPECT_EQ(frames[1].type, 2u);
    EXPECT_EQ(frames[2].payload, std::string(100'000, 'x'));
}

TEST(Frame, WhatComesBeforeTheGreetingIsSkipped) {
    FrameReader reader(false);
    reader.add("Welcome to node 3!\n\n[kumiki-");
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.greeted());
    reader.add("daemon]\n" + wire_form({7, "x"}));
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->type, 7u);
    EXPECT_TRUE(reader.greeted());
}

TEST(Frame, ASenderThatNeverGreetsIsGivenUp) {
    FrameReader reader(false);
    reader.add(std::string(longest_preamble + 1, 'x'));
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken());
}

TEST(Frame, AnAbsurdLengthIsNotWaitedFor) {
    FrameReader reader(true);
    reader.add("GET / HT");
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken());
    EXPECT_EQ(reader.excerpt(), "GET / HT");
}

Order an_order() {
    return {.share = {"b", 3, 2, 5},
            .program = {"program", "", "a b\n"},
            .folder = "/some where",
            .environment = {{"A", "1"}, {"B", ""}},
            .settings = {{"KUMIKI_WAIT", "spin"}},
            .verbose = true};
}

TEST(Message, ComesBackAsItWas) {
    const auto back = read_message<Order>(as_frame(an_order()));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->share.host, "b");
    EXPECT_EQ(back->share.first, 3);
    EXPECT_EQ(back->share.ranks, 2);
    EXPECT_EQ(back->share.size, 5);
    EXPECT_EQ(back->program, an_order().program);
    EXPECT_EQ(back->folder, "/some where");
    EXPECT_EQ(back->environment, an_order().environment);
    EXPECT_EQ(back->settings, an_order().settings);
    EXPECT_TRUE(back->verbose);
    const auto card = read_message<Card>(as_frame(Card{-1, std::string("\0\xff", 2)}));
    ASSERT_TRUE(card);
    EXPECT_EQ(card->rank, -1);
    EXPECT_EQ(card->text, std::string("\0\xff", 2));
    EXPECT_TRUE(read_message<Done>(as_frame(Done{})));
}

TEST(Message, OfAnotherTypeIsNotRead) { EXPECT_FALSE(read_message<Done>(as_frame(Alive{}))); }

TEST(Message, CutShortOrTooLongIsNotRead) {
    const Frame whole = as_frame(an_order());
    for (std::size_t length = 0; length < whole.payload.size(); ++length)
        EXPECT_FALSE(read_message<Order>({whole.type, whole.payload.substr(0, length)})) << length;
    EXPECT_FALSE(read_message<Order>({whole.type, whole.payload + "x"}));
}

TEST(Message, ALengthThatLiesIsNotBelieved) {
    PayloadWriter writer;
    writer.put(~std::uint64_t{0} >> 1);
    EXPECT_FALSE(read_message<Remark>({static_cast<std::uint32_t>(Remark::type), writer.take()}));
}

} // namespace
} // namespace kumiki::launch
