// Signals go to the program's threads: the library's own threads must not run the program's handlers.
#include <atomic>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "kumiki/kumiki.hpp"

namespace kumiki {
namespace {

std::atomic<int> handled{0};

TEST(Signals, of_the_process_are_not_handled_by_threads_of_the_library) {
    Job job;
    [[maybe_unused]] const int handler = job.on_message([](int, std::span<const std::byte>) {});
    std::signal(SIGUSR1, [](int) { ++handled; });
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    kill(getpid(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(handled, 0); // this is the program's only thread, and it does not accept the signal now
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(handled, 1);
    std::signal(SIGUSR1, SIG_DFL);
}

} // namespace
} // namespace kumiki
