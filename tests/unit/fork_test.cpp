// A child that a rank forks after it has joined is not a rank: its calls are refused, and it does not harm its parent.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "kumiki/kumiki.h"
#include "kumiki/kumiki.hpp"

namespace kumiki {
namespace {

/// Runs the body in a child; returns the child's exit code.
int in_child(const std::function<int()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); // a child that waits for threads that it does not have would wait forever
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_refused(kumiki_status status, const std::string& operation) {
    const std::string said = kumiki_error_message();
    return status == KUMIKI_ERROR_STATE &&
           said.starts_with(operation + ": this process (" + std::to_string(getpid())) &&
           said.find("(process " + std::to_string(getppid())) != std::string::npos;
}

TEST(Fork, AChildIsRefusedByEveryCall) {
    Job job;
    auto region = job.allocate<std::uint64_t>(8);
    kumiki_job* handle = job.handle();
    kumiki_team* team = nullptr;
    ASSERT_EQ(kumiki_team_create(handle, 2, &team), KUMIKI_OK);
    std::uint64_t word = 0;
    void* memory = nullptr;
    kumiki_request request = nullptr;
    kumiki_message_status status{};
    int handled = 0;
    std::uint64_t* there = region.data();
    const auto nothing = [](void*, int) {};
    EXPECT_EQ(in_child([&] {
                  int wrong = 0;
                  const auto expect = [&wrong](kumiki_status code, const char* operation) {
                      wrong += is_refused(code, operation) ? 0 : 1;
                  };
                  expect(kumiki_threads_of(handle, 0, &handled), "threads_of");
                  expect(kumiki_allocate(handle, 8, &memory), "allocate");
                  expect(kumiki_release(handle, there), "release");
                  expect(kumiki_peer(handle, 0, there, &memory), "peer");
                  expect(kumiki_put(handle, 0, there, &word, 8), "put");
                  expect(kumiki_get(handle, 0, there, &word, 8), "get");
                  expect(kumiki_start_put(handle, 0, there, &word, 8, &request), "start_put");
                  expect(kumiki_start_get(handle, 0, there, &word, 8, &request), "start_get");
                  expect(kumiki_signal(handle, 0, there, KUMIKI_SIGNAL_SET, 1), "signal");
                  expect(kumiki_put_signal(handle, 0, there, &word, 8, there, KUMIKI_SIGNAL_SET, 1), "put_signal");
                  expect(kumiki_signal_wait(handle, there, KUMIKI_EQUAL, 1, nullptr), "signal_wait");
                  expect(kumiki_fetch_add(handle, 0, there, 1, nullptr), "fetch_add");
                  expect(kumiki_progress(handle, &handled), "progress");
                  expect(kumiki_barrier(handle), "barrier");
                  expect(kumiki_barrier_wait(handle), "barrier_wait");
                  expect(kumiki_broadcast(handle, &word, 8, 0), "broadcast");
                  expect(kumiki_active_message(handle, 0, 0, nullptr, 0), "active_message");
                  expect(kumiki_send(handle, 0, 1, &word, 8, &request), "send");
                  expect(kumiki_receive(handle, 0, 1, &word, 8, &request), "receive");
                  expect(kumiki_wait(handle, &request, nullptr), "wait");
                  expect(kumiki_probe(handle, 0, 1, &handled, &status), "probe");
                  expect(kumiki_team_run(team, nothing, nullptr), "team_run");
                  expect(kumiki_team_barrier(team, 0), "team_barrier");
                  expect(kumiki_team_barrier_all(team, 0), "team_barrier_all");
                  wrong += kumiki_rank(handle) == -1 && kumiki_size(handle) == -1 ? 0 : 1;
                  kumiki_team_destroy(team);
                  kumiki_abandon(handle);
                  return wrong;
              }),
              0);
    EXPECT_EQ(region[0], 0U);
    EXPECT_EQ(kumiki_team_run(team, nothing, nullptr), KUMIKI_OK);
    kumiki_team_destroy(team);
    job.barrier();
    EXPECT_EQ(job.fetch_add(0, region[0], 5), 0U);
}

TEST(Fork, AChildThatEndsItsObjectsDoesNotLeaveInItsParentsName) {
    auto job = std::make_unique<Job>();
    auto region = std::make_unique<Region<int>>(job->allocate<int>(4));
    testing::internal::CaptureStderr();
    EXPECT_EQ(in_child([&] {
                  region.reset();
                  job.reset();
                  return 0;
              }),
              0);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("kumiki: leave: this process ("), std::string::npos);
    job->barrier();
    (*region)[0] = 3;
    EXPECT_EQ(job->get(0, (*region)[0]), 3);
}

} // namespace
} // namespace kumiki
