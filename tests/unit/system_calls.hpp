#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <kumiki/kumiki.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

#include "platform/memory.hpp"
#include "support/build.hpp"

namespace kumiki::tests {

using Bytes = std::span<char>;

/// A file in memory, or the two ends of a socket or a pipe.
struct Files {
    explicit Files(std::array<int, 2> both) : ends(both) {}
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    ~Files() {
        for (const int end : ends) close(end);
    }
    int in() const { return ends[0]; }
    int out() const { return ends[1]; }
    std::array<int, 2> ends;
};
inline std::array<int, 2> memory_file() {
    const int file = memfd_create("system-call-test", 0);
    return {file, dup(file)};
}
inline std::array<int, 2> pipe_ends() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    return ends;
}
inline std::array<int, 2> socket_ends(int type) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, type, 0, ends.data()), 0);
    return ends;
}
inline std::string path_of(int file) { return "/proc/self/fd/" + std::to_string(file); }

inline char letter(std::size_t at, int seed) {
    return static_cast<char>('a' + (at * 7 + static_cast<std::size_t>(seed)) % 26);
}
inline std::string text_of(std::size_t bytes, int seed) {
    std::string text(bytes, ' ');
    for (std::size_t at = 0; at < bytes; ++at) text[at] = letter(at, seed);
    return text;
}

/// Three pieces of a buffer, of which the middle one has no bytes.
inline std::array<iovec, 3> pieces_of(Bytes buffer) {
    const std::size_t half = buffer.size() / 2;
    return {iovec{buffer.data(), half}, iovec{nullptr, 0}, iovec{buffer.data() + half, buffer.size() - half}};
}
inline msghdr message_of(std::array<iovec, 3>& pieces) {
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return message;
}

/// A call that fills a buffer with the text, or that brings the contents of a buffer out.
struct Filling {
    const char* name;
    std::function<void(Bytes buffer, const std::string& text)> fill;
};
struct Bringing {
    const char* name;
    std::function<std::string(Bytes buffer)> bring;
};

/// Calls with the file that has the text, or from a socket that does, and expects all bytes.
template <class Call>
Filling from_file(const char* name, Call call) {
    return {name, [call](Bytes buffer, const std::string& text) {
                const Files file(memory_file());
                ASSERT_EQ(pwrite(file.in(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
                ASSERT_EQ(call(file.in(), buffer), static_cast<ssize_t>(text.size())) << std::strerror(errno);
            }};
}
template <class Call>
Filling from_socket(const char* name, Call call) {
    return {name, [call](Bytes buffer, const std::string& text) {
                for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
                    const Files socket(socket_ends(type));
                    ASSERT_EQ(send(socket.out(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
                    ASSERT_EQ(call(socket.in(), buffer), static_cast<ssize_t>(text.size())) << std::strerror(errno);
                }
            }};
}
template <class Call>
Bringing to_file(const char* name, Call call) {
    return {name, [call](Bytes buffer) {
                const Files file(memory_file());
                EXPECT_EQ(call(file.out(), buffer), static_cast<ssize_t>(buffer.size())) << std::strerror(errno);
                std::string got(buffer.size(), ' ');
                EXPECT_EQ(pread(file.in(), got.data(), got.size(), 0), static_cast<ssize_t>(got.size()));
                return got;
            }};
}
template <class Call>
Bringing to_socket(const char* name, Call call) {
    return {name, [call](Bytes buffer) {
                const Files socket(socket_ends(SOCK_DGRAM));
                EXPECT_EQ(call(socket.out(), buffer), static_cast<ssize_t>(buffer.size())) << std::strerror(errno);
                std::string got(buffer.size(), ' ');
                EXPECT_EQ(recv(socket.in(), got.data(), got.size(), MSG_DONTWAIT), static_cast<ssize_t>(got.size()));
                return got;
            }};
}

/// Without those with arrays of buffers in builds with a sanitizer, whose own functions the loader finds before those
/// of libkumiki.
template <class Case>
std::vector<Case> usable(std::vector<Case> cases) {
    static const std::set<std::string_view> with_arrays = {"readv",   "preadv",   "recvmsg", "recvmmsg", "writev",
                                                           "pwritev", "ofstream", "sendmsg", "sendmmsg"};
    if (sanitized) std::erase_if(cases, [](const Case& each) { return with_arrays.contains(each.name); });
    return cases;
}

inline const std::vector<Filling> fillings = usable<Filling>({
    from_file("read", [](int file, Bytes b) { return read(file, b.data(), b.size()); }),
    from_file("pread", [](int file, Bytes b) { return pread(file, b.data(), b.size(), 0); }),
    from_file("readv", [](int file, Bytes b) { return readv(file, pieces_of(b).data(), 3); }),
    from_file("preadv", [](int file, Bytes b) { return preadv(file, pieces_of(b).data(), 3, 0); }),
    from_file("fread",
              [](int file, Bytes b) {
                  FILE* const stream = fopen(path_of(file).c_str(), "r");
                  const std::size_t got = fread(b.data(), 1, b.size(), stream);
                  fclose(stream);
                  return static_cast<ssize_t>(got);
              }),
    from_file("ifstream",
              [](int file, Bytes b) {
                  std::ifstream stream(path_of(file));
                  stream.read(b.data(), static_cast<std::streamsize>(b.size()));
                  return stream.gcount();
              }),
    from_socket("recv", [](int socket, Bytes b) { return recv(socket, b.data(), b.size(), MSG_DONTWAIT); }),
    from_socket(
        "recvfrom",
        [](int socket, Bytes b) { return recvfrom(socket, b.data(), b.size(), MSG_DONTWAIT, nullptr, nullptr); }),
    from_socket("recvmsg",
                [](int socket, Bytes b) {
                    auto pieces = pieces_of(b);
                    msghdr message = message_of(pieces);
                    return recvmsg(socket, &message, MSG_DONTWAIT);
                }),
    from_socket("recvmmsg",
                [](int socket, Bytes b) {
                    auto pieces = pieces_of(b);
                    mmsghdr message{message_of(pieces), 0};
                    const int got = recvmmsg(socket, &message, 1, MSG_DONTWAIT, nullptr);
                    return got == 1 ? static_cast<ssize_t>(message.msg_len) : ssize_t{-1};
                }),
    {"read from a pipe",
     [](Bytes buffer, const std::string& text) {
         const Files ends(pipe_ends());
         ASSERT_EQ(write(ends.out(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
         ASSERT_EQ(read(ends.in(), buffer.data(), buffer.size()), static_cast<ssize_t>(text.size()));
     }},
});

inline const std::vector<Bringing> bringings = usable<Bringing>({
    to_file("write", [](int file, Bytes b) { return write(file, b.data(), b.size()); }),
    to_file("pwrite", [](int file, Bytes b) { return pwrite(file, b.data(), b.size(), 0); }),
    to_file("writev", [](int file, Bytes b) { return writev(file, pieces_of(b).data(), 3); }),
    to_file("pwritev", [](int file, Bytes b) { return pwritev(file, pieces_of(b).data(), 3, 0); }),
    to_file("fwrite",
            [](int file, Bytes b) {
                FILE* const stream = fopen(path_of(file).c_str(), "w");
                const std::size_t put = fwrite(b.data(), 1, b.size(), stream);
                return fclose(stream) == 0 ? static_cast<ssize_t>(put) : ssize_t{-1};
            }),
    to_file("ofstream", // the C++ library uses writev
            [](int file, Bytes b) {
                std::ofstream stream(path_of(file));
                stream << "";
                stream.write(b.data(), static_cast<std::streamsize>(b.size()));
                stream.close();
                return stream ? static_cast<ssize_t>(b.size()) : ssize_t{-1};
            }),
    to_socket("send", [](int socket, Bytes b) { return send(socket, b.data(), b.size(), 0); }),
    to_socket("sendto", [](int socket, Bytes b) { return sendto(socket, b.data(), b.size(), 0, nullptr, 0); }),
    to_socket("sendmsg",
              [](int socket, Bytes b) {
                  auto pieces = pieces_of(b);
                  const msghdr message = message_of(pieces);
                  return sendmsg(socket, &message, 0);
              }),
    to_socket("sendmmsg",
              [](int socket, Bytes b) {
                  auto pieces = pieces_of(b);
                  mmsghdr message{message_of(pieces), 0};
                  const int sent = sendmmsg(socket, &message, 1, 0);
                  return sent == 1 ? static_cast<ssize_t>(message.msg_len) : ssize_t{-1};
              }),
});

/// What rank 1, whose home the pages are not, may do with the pages of a buffer before a call.
enum class Pages { absent, clean };

/// An array whose first half, of which rank 0 is the home, is cut into buffers.
class Buffers {
public:
    static constexpr std::size_t pages = 3; ///< of each; it begins and ends in the middle of one

    Buffers(Job& job, std::size_t count)
        : job_(job), array_(job.share<char>(2 * count * pages * platform::page_size(), Homes::block)) {}

    Bytes buffer(std::size_t number) {
        const std::size_t page = platform::page_size();
        return Bytes(array_.data(), array_.size()).subspan(number * pages * page + 100, (pages - 1) * page + 200);
    }
    /// For rank 1.
    Bytes buffer(std::size_t number, Pages state) {
        const Bytes bytes = buffer(number);
        if (state == Pages::clean) {
            EXPECT_NE(std::string(bytes.data(), bytes.size()), ""); // reads it
        }
        return bytes;
    }
    SharedArray<char>& array() { return array_; }

private:
    Job& job_;
    SharedArray<char> array_;
};

} // namespace kumiki::tests
