#include "platform/write_all.hpp"

#include <array>
#include <cerrno>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <thread>

#include "platform/descriptor.hpp"

namespace kumiki::platform {
namespace {

/// More than fits into a pipe or a socket, so that the writer needs several writes and has to wait for its reader.
const std::string long_text(std::size_t{4} << 20, 'x');

std::string everything_from(int descriptor) {
    std::string text;
    std::array<char, 10'000> some;
    for (ssize_t bytes = 0; (bytes = read(descriptor, some.data(), some.size())) > 0;)
        text.append(some.data(), static_cast<std::size_t>(bytes));
    return text;
}

TEST(WriteAll, WaitsWhereAPipeDoesNotBlock) {
    Pipe pipe = Pipe::create();
    ASSERT_EQ(fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK), 0);
    std::string received;
    std::thread reader([&] { received = everything_from(pipe.read.get()); });
    EXPECT_TRUE(write_all(pipe.write.get(), long_text));
    pipe.write.reset();
    reader.join();
    EXPECT_EQ(received, long_text);
}

TEST(WriteAll, TellsWhyItFails) {
    const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
    EXPECT_FALSE(write_all(full.get(), "x"));
    EXPECT_EQ(errno, ENOSPC);
}

TEST(SendAll, FailsWithoutASignalWhenTheReaderIsGone) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const Descriptor own(ends[0]);
    close(ends[1]);
    EXPECT_FALSE(send_all(own.get(), "x")) << "and SIGPIPE would have ended this process";
    EXPECT_EQ(errno, EPIPE);
}

TEST(SendAll, TakesNoFileForASocket) {
    const Descriptor file(open("/dev/null", O_WRONLY | O_CLOEXEC));
    EXPECT_FALSE(send_all(file.get(), "x"));
    EXPECT_EQ(errno, ENOTSOCK);
}

} // namespace
} // namespace kumiki::platform
