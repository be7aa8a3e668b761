#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

#include "fabric/network/transport.hpp"
#include "support/pattern.hpp"
#include "support/watchdog.hpp"

namespace kumiki::fabric {
namespace {

using tests::Watchdog;

/// Two ends of an engine in one thread: a call at one end that waited for the other one would never return.
class TransportTest : public testing::Test {
protected:
    struct End {
        std::vector<std::pair<MessageHeader, std::vector<std::byte>>> received;
        std::vector<std::uint64_t> left;
        int refused = 0;
        Key key = Key::make();
        std::shared_ptr<Transport> transport;
        Transport::Peer peer() const { return {transport->address(), key}; }
    };
    void SetUp() override {
        for (End& end : ends_) {
            Transport::Events events;
            events.received = [&end](const MessageHeader& header, auto payload) {
                end.received.emplace_back(header, std::vector(payload.begin(), payload.end()));
            };
            events.refused = [&end] { ++end.refused; };
            events.left = [&end](const MessageHeader&, std::uint64_t ticket) { end.left.push_back(ticket); };
            auto opened = open_transport("", end.key, std::move(events));
            ASSERT_TRUE(opened) << opened.error().message;
            end.transport = *opened;
        }
        for (End& end : ends_) end.transport->know({ends_[0].peer(), ends_[1].peer()});
    }

    static std::vector<std::byte> payload(std::size_t bytes, int seed) {
        return tests::pattern(bytes, static_cast<std::uint64_t>(seed));
    }
    static MessageHeader numbered(int number) {
        MessageHeader made{.kind = MessageKind::put};
        made.value = static_cast<std::uint64_t>(number);
        return made;
    }
    void exchange(std::size_t messages) {
        progress_until([&] { return sink().received.size() >= messages; });
    }
    template <class Done>
    void progress_until(Done done) {
        while (!done()) {
            source().transport->progress();
            sink().transport->progress();
        }
    }
    End& source() { return ends_[0]; }
    End& sink() { return ends_[1]; }

private:
    std::array<End, 2> ends_;
};

TEST_F(TransportTest, WhoDoesNotShowTheKeyIsNotHeard) {
    const Watchdog watchdog("messages with wrong keys");
    constexpr int bits = 128;
    for (int bit = 0; bit < bits; ++bit) {
        auto wrong = sink().peer();
        wrong.key.half[static_cast<std::size_t>(bit / 64)] ^= std::uint64_t{1} << bit % 64;
        source().transport->know({source().peer(), wrong});
        ASSERT_TRUE(source().transport->send(1, numbered(bit), payload(static_cast<std::size_t>(bit) * 50, bit)));
        progress_until([&] { return sink().refused > bit; });
    }
    EXPECT_TRUE(sink().received.empty());
    source().transport->know({source().peer(), sink().peer()});
    ASSERT_TRUE(source().transport->send(1, numbered(7), {}));
    exchange(1);
    EXPECT_EQ(sink().received.front().first.value, 7u);
    EXPECT_EQ(sink().refused, bits);
}

TEST(OpenTransportTest, AnInterfaceThatThereIsNotIsNamed) {
    const auto opened = open_transport("eth99", Key::make(), {});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message,
              "the network interface eth99 does not exist, is switched off or has no link, so this rank cannot reach "
              "other hosts: see `ip link`, mend it, or name another one (KUMIKI_INTERFACE)");
}

TEST_F(TransportTest, TellsWhichConnectionHasFailed) {
    const Watchdog watchdog("a peer that goes");
    ASSERT_TRUE(source().transport->send(1, numbered(1), {}));
    exchange(1);
    EXPECT_FALSE(source().transport->failed());
    sink().transport.reset();
    for (std::optional<Transport::Failed> failed; !failed; failed = source().transport->failed()) {
        ASSERT_TRUE(source().transport->send(1, numbered(2), {})) << "the peer's end is no failure of the sender's";
        source().transport->progress();
    }
    EXPECT_EQ(source().transport->failed()->rank, 1);
    EXPECT_FALSE(source().transport->failed()->reason.empty());
}

TEST_F(TransportTest, ShortMessagesAndBurstsAreKeptForWhoDoesNotReceive) {
    const Watchdog watchdog("short messages to a peer that does not receive");
    constexpr int messages = 400; // of up to 8 KiB; every tenth one is a burst of 40 KiB: 3 MiB in all
    const auto bytes_of = [](int number) -> std::size_t {
        return number % 10 == 0 ? 40 << 10 : static_cast<std::size_t>(number) * 13 % (8 << 10);
    };
    for (int number = 0; number < messages; ++number) {
        auto data = payload(bytes_of(number), number);
        if (number % 10 == 0) {
            ASSERT_TRUE(source().transport->give(1, numbered(number), std::move(data)));
        } else {
            ASSERT_TRUE(source().transport->send(1, numbered(number), data));
            std::ranges::fill(data, std::byte{0}); // the sender may change it
        }
    }
    exchange(messages);
    for (int number = 0; number < messages; ++number) {
        const auto& [header, data] = sink().received[static_cast<std::size_t>(number)];
        ASSERT_EQ(header.value, static_cast<std::uint64_t>(number));
        ASSERT_EQ(data, payload(bytes_of(number), number));
    }
    EXPECT_TRUE(source().left.empty()) << "nobody asked";
}

TEST_F(TransportTest, WhatIsPostedIsToldOfWhenItHasLeft) {
    const Watchdog watchdog("posts to a peer that does not receive");
    constexpr int messages = 200; // 25 MB: more than any socket takes
    std::vector<std::vector<std::byte>> payloads;
    std::vector<std::uint64_t> waiting;
    for (int number = 0; number < messages; ++number) {
        payloads.push_back(payload(source().transport->limits().part, number));
        const auto ticket = static_cast<std::uint64_t>(number) + 1;
        const auto left = source().transport->post(1, numbered(number), payloads.back(), ticket);
        ASSERT_TRUE(left);
        if (*left) std::ranges::fill(payloads.back(), std::byte{0});
        else waiting.push_back(ticket);
    }
    EXPECT_GT(waiting.size(), 0u) << "the peer receives nothing";
    EXPECT_TRUE(source().left.empty()) << "nothing was done meanwhile";
    exchange(messages);
    EXPECT_EQ(source().left, waiting) << "each once, in order";
    for (int number = 0; number < messages; ++number)
        ASSERT_EQ(sink().received[static_cast<std::size_t>(number)].second,
                  payload(source().transport->limits().part, number));
}

TEST_F(TransportTest, MuchThatIsKeptMakesTheSenderWait) {
    const Watchdog watchdog("a sender that waits for room");
    constexpr int messages = 4000; // 31 MiB: more than the engine keeps and any socket takes
    std::atomic<bool> receives{false};
    std::thread receiver([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        receives = true;
        while (sink().received.size() < messages) sink().transport->progress();
    });
    for (int number = 0; number < messages; ++number)
        ASSERT_TRUE(source().transport->send(1, numbered(number), payload(8 << 10, number)));
    EXPECT_TRUE(receives) << "nothing would keep a fast sender from filling its memory";
    while (source().transport->progress()) {}
    source().transport->drain();
    receiver.join();
    EXPECT_EQ(sink().received.back().first.value, static_cast<std::uint64_t>(messages - 1));
}

// A rank that dies ends the job, and the launcher names it; ranks that happen to send to it do not end the job.
TEST_F(TransportTest, ToSendToWhoHasGoneIsNoFailure) {
    const Watchdog watchdog("a peer that has gone");
    ASSERT_TRUE(source().transport->send(1, numbered(0), payload(8, 0)));
    exchange(1);
    sink().transport.reset();
    const auto data = payload(source().transport->limits().part, 1);
    for (int number = 1; number < 1000; ++number) {
        ASSERT_TRUE(
            source().transport->send(1, numbered(number), std::span(data).first(number % 2 == 0 ? 8 : data.size())));
        source().transport->progress();
    }
}

} // namespace
} // namespace kumiki::fabric
