#include <gtest/gtest.h>
#include <thread>

#include "fabric/shm/inbox.hpp"
#include "support/build.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::fabric {
namespace {

using tests::Random;
using tests::Watchdog;

TEST(InboxTest, IsAQueueOfSixtyFour) {
    const auto segment = tests::make_segment({.ranks = 1});
    shm::Inbox& inbox = segment->block(0).inbox;
    shm::ActiveMessage message;
    std::uint32_t sent = 0, received = 0;
    const auto send = [&] {
        const bool done = shm::try_send(inbox, 3, 5, std::as_bytes(std::span(&sent, 1)));
        if (done) ++sent;
        return done;
    };
    for (int lap = 0; lap < 5; ++lap) {
        EXPECT_FALSE(shm::has_message(inbox));
        while (send()) {}
        EXPECT_EQ(sent - received, shm::Inbox::slots) << "full";
        const std::uint32_t leave = static_cast<std::uint32_t>(10 * lap);
        while (sent - received > leave) {
            ASSERT_TRUE(shm::has_message(inbox));
            shm::receive(inbox, message);
            EXPECT_EQ(message.source, 3);
            EXPECT_EQ(message.handler, 5);
            ASSERT_EQ(message.bytes, 4u);
            EXPECT_TRUE(std::memcmp(message.payload.data(), &received, 4) == 0) << "oldest first";
            ++received;
        }
        while (sent - received > 0) {
            shm::receive(inbox, message);
            ++received;
        }
    }
}

TEST(InboxTest, CarriesPayloadsOfEveryLength) {
    const auto segment = tests::make_segment({.ranks = 1});
    shm::Inbox& inbox = segment->block(0).inbox;
    Random random(2);
    for (std::size_t bytes = 0; bytes <= shm::InboxSlot::capacity; ++bytes) {
        std::vector<std::byte> payload(bytes);
        random.fill(payload);
        ASSERT_TRUE(shm::try_send(inbox, 0, 0, payload));
        shm::ActiveMessage message;
        shm::receive(inbox, message);
        ASSERT_EQ(message.bytes, bytes);
        ASSERT_TRUE(std::equal(payload.begin(), payload.end(), message.payload.begin()));
    }
}

TEST(InboxStress, ManySendersOneReceiver) {
    const Watchdog watchdog("inbox");
    const auto segment = tests::make_segment({.ranks = 1});
    shm::Inbox& inbox = segment->block(0).inbox;
    constexpr int senders = 4;
    const auto each = static_cast<std::uint32_t>(tests::rounds(100000));
    std::vector<std::thread> threads;
    for (int sender = 0; sender < senders; ++sender)
        threads.emplace_back([&, sender] {
            for (std::uint32_t number = 0; number < each; ++number)
                while (!shm::try_send(inbox, sender, 0, std::as_bytes(std::span(&number, 1))))
                    std::this_thread::yield();
        });
    std::array<std::uint32_t, senders> next{};
    shm::ActiveMessage message;
    for (std::size_t received = 0; received < senders * std::size_t{each};) {
        if (!shm::has_message(inbox)) {
            std::this_thread::yield();
            continue;
        }
        shm::receive(inbox, message);
        std::uint32_t number = 0;
        std::memcpy(&number, message.payload.data(), 4);
        ASSERT_EQ(number, next[static_cast<std::size_t>(message.source)]++) << "in order for each sender";
        ++received;
    }
    for (auto& thread : threads) thread.join();
    EXPECT_FALSE(shm::has_message(inbox));
}

} // namespace
} // namespace kumiki::fabric
