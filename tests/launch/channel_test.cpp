#include "launch/protocol/channel.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace kumiki::launch {
namespace {

using namespace std::chrono_literals;

Channel::Clock::time_point in(std::chrono::milliseconds time) { return Channel::Clock::now() + time; }

/// A channel that is not attached, and both ends of the other side.
class ChannelTest : public testing::Test {
protected:
    platform::Pipe to_us = platform::Pipe::create(), from_us = platform::Pipe::create();
    Channel channel{std::move(to_us.read), std::move(from_us.write), true};

    void say(const std::string& bytes) const {
        EXPECT_EQ(write(to_us.write.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    /// Reads so many of the bytes that the channel writes.
    void hear(std::size_t bytes) const {
        for (std::string some(4096, ' '); bytes > 0;) {
            const ssize_t heard = read(from_us.read.get(), some.data(), std::min(bytes, some.size()));
            if (heard <= 0) return;
            bytes -= static_cast<std::size_t>(heard);
        }
    }
};

const std::string hello = wire_form(as_frame(Remark{"hello"}));

TEST_F(ChannelTest, WaitsForAFrameThatComesInPieces) {
    std::jthread slow([&] {
        for (const char byte : hello) {
            std::this_thread::sleep_for(1ms);
            say({byte});
        }
    });
    const auto frame = channel.wait_for_frame(in(10s));
    ASSERT_TRUE(frame);
    EXPECT_EQ(read_message<Remark>(*frame)->text, "hello");
}

TEST_F(ChannelTest, DoesNotWaitForeverForASilentFront) {
    say(hello.substr(0, 5));
    EXPECT_FALSE(channel.wait_for_frame(in(30ms)));
}

TEST_F(ChannelTest, NoticesTheEndAndRubbish) {
    say("GET / HTTP/1.0\r\n\r\n");
    EXPECT_FALSE(channel.wait_for_frame(in(10s)));
    EXPECT_TRUE(channel.reader().broken());
    EXPECT_EQ(channel.reader().excerpt(), "GET / HTTP/1.0.");
    platform::Pipe to_other = platform::Pipe::create(), unused = platform::Pipe::create();
    Channel other(std::move(to_other.read), std::move(unused.write), true);
    to_other.write.reset();
    EXPECT_FALSE(other.wait_for_frame(in(10s)));
    EXPECT_FALSE(other.reader().broken());
}

TEST_F(ChannelTest, WritesOnWhileItWaits) {
    // More than fits into a pipe: the rest is written while the answer is awaited.
    const std::size_t bytes = std::size_t{1} << 20;
    channel.send_bytes(std::string(bytes, 'x'));
    std::jthread controller([&] {
        hear(bytes);
        say(hello);
    });
    EXPECT_TRUE(channel.wait_for_frame(in(10s)));
}

TEST_F(ChannelTest, DoesNotWaitForeverForAReader) {
    channel.send_bytes(std::string(std::size_t{1} << 20, 'x'));
    const auto begin = Channel::Clock::now();
    channel.wait_until_written(in(30ms));
    EXPECT_LT(Channel::Clock::now() - begin, 5s);
}

} // namespace
} // namespace kumiki::launch
