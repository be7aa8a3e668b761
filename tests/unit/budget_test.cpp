// The budgets of the fast paths between ranks of one host (src/fabric/README.md, src/message/README.md,
// src/collective/README.md): no system call and no allocation, counted where they are made.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <new>
#include <optional>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kumiki/kumiki.h"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/processes.hpp"

namespace {

thread_local std::uint64_t allocations = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
    ++allocations;
    const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
    if (void* memory = std::aligned_alloc(alignment, whole == 0 ? alignment : whole)) return memory;
    throw std::bad_alloc();
}

} // namespace

// gcc 12 takes a pair of which it has inlined one half for two that do not match.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace kumiki::tests {
namespace {

constexpr int rounds = 200, allocates = 7, fails = 8;
constexpr std::size_t longest = std::size_t{4} << 20;

/// From now on every system call of this thread, except the one that ends the process, kills the process with SIGSYS.
void forbid_system_calls() {
    std::array filter{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(fails);
}

void expect_ok(kumiki_status status) {
    if (status != KUMIKI_OK) _exit(fails);
}

/// The data of a rank: a region, and in it a word that is used as a signal.
struct Mine {
    kumiki_job* job;
    std::byte* region;
    std::uint64_t* word() const { return reinterpret_cast<std::uint64_t*>(region); }
    std::byte* data() const { return region + 64; }
};

std::array<std::byte, longest> buffer;

void send(const Mine& mine, std::size_t bytes) {
    kumiki_request request = nullptr;
    expect_ok(kumiki_send(mine.job, 1, 0, buffer.data(), bytes, &request));
    expect_ok(kumiki_wait(mine.job, &request, nullptr));
}
void receive(const Mine& mine, std::size_t bytes) {
    kumiki_request request = nullptr;
    expect_ok(kumiki_receive(mine.job, KUMIKI_ANY, 0, buffer.data(), bytes, &request));
    expect_ok(kumiki_wait(mine.job, &request, nullptr));
}
void send_and_await(const Mine& mine, std::size_t bytes) {
    static std::uint64_t answers = 0;
    send(mine, bytes);
    expect_ok(kumiki_signal_wait(mine.job, mine.word() + 2, KUMIKI_AT_LEAST, ++answers, nullptr));
}
void receive_and_answer(const Mine& mine, std::size_t bytes) {
    receive(mine, bytes);
    expect_ok(kumiki_signal(mine.job, 0, mine.word() + 2, KUMIKI_SIGNAL_ADD, 1));
}
void wait_for_ever(const Mine& mine) {
    expect_ok(kumiki_signal_wait(mine.job, mine.word(), KUMIKI_EQUAL, 77, nullptr));
}
void barrier(const Mine& mine) { expect_ok(kumiki_barrier(mine.job)); }
void split_barrier(const Mine& mine) {
    expect_ok(kumiki_barrier_enter(mine.job));
    expect_ok(kumiki_barrier_wait(mine.job));
}
void all_reduce(const Mine& mine) {
    double value = 1;
    expect_ok(kumiki_all_reduce(mine.job, &value, &value, 1, KUMIKI_DOUBLE, KUMIKI_SUM));
}

/// The operation that rank 0 repeats within its budget, and rank 1's part in it.
struct Path {
    const char* name;
    void (*own)(const Mine&);
    void (*partner)(const Mine&);
};

const Path paths[] = {
    {"put", [](const Mine& m) { expect_ok(kumiki_put(m.job, 1, m.data(), buffer.data(), 8)); }, wait_for_ever},
    {"put_of_a_page", [](const Mine& m) { expect_ok(kumiki_put(m.job, 1, m.data(), buffer.data(), 4096)); },
     wait_for_ever},
    {"put_around_the_caches", [](const Mine& m) { expect_ok(kumiki_put(m.job, 1, m.data(), buffer.data(), longest)); },
     wait_for_ever},
    {"get", [](const Mine& m) { expect_ok(kumiki_get(m.job, 1, m.data(), buffer.data(), 8)); }, wait_for_ever},
    {"signal", [](const Mine& m) { expect_ok(kumiki_signal(m.job, 1, m.word() + 1, KUMIKI_SIGNAL_ADD, 1)); },
     wait_for_ever},
    {"put_signal",
     [](const Mine& m) {
         expect_ok(kumiki_put_signal(m.job, 1, m.data(), buffer.data(), 8, m.word() + 1, KUMIKI_SIGNAL_SET, 1));
     },
     wait_for_ever},
    {"atomic", [](const Mine& m) { expect_ok(kumiki_fetch_add(m.job, 1, m.word() + 1, 1, nullptr)); }, wait_for_ever},
    {"wait_that_is_over",
     [](const Mine& m) { expect_ok(kumiki_signal_wait(m.job, m.word(), KUMIKI_EQUAL, 0, nullptr)); }, wait_for_ever},
    {"barrier", barrier, barrier},
    {"split_barrier", split_barrier, split_barrier},
    {"all_reduce", all_reduce, all_reduce},
    // One message after another, because one that finds no room is copied, and the agent is called for it.
    {"send_small", [](const Mine& m) { send_and_await(m, 8); }, [](const Mine& m) { receive_and_answer(m, 8); }},
    {"send_short", [](const Mine& m) { send_and_await(m, 4096); }, [](const Mine& m) { receive_and_answer(m, 4096); }},
    {"receive",
     [](const Mine& m) {
         expect_ok(kumiki_signal(m.job, 1, m.word() + 1, KUMIKI_SIGNAL_ADD, 1));
         receive(m, 64);
     },
     [](const Mine& m) {
         static std::uint64_t wanted = 0;
         expect_ok(kumiki_signal_wait(m.job, m.word() + 1, KUMIKI_AT_LEAST, ++wanted, nullptr));
         kumiki_request request = nullptr;
         expect_ok(kumiki_send(m.job, 0, 0, buffer.data(), 64, &request));
         expect_ok(kumiki_wait(m.job, &request, nullptr));
     }},
};

void follow(const Path& path, int rank) {
    Mine mine{};
    expect_ok(kumiki_join(&mine.job));
    void* region = nullptr;
    expect_ok(kumiki_allocate(mine.job, longest + 64, &region));
    mine.region = static_cast<std::byte*>(region);
    expect_ok(kumiki_barrier(mine.job));
    if (rank == 1)
        for (;;) path.partner(mine);
    // One-time allocations are made now.
    for (int round = 0; round < rounds; ++round) path.own(mine);
    const std::uint64_t before = allocations;
    forbid_system_calls();
    for (int round = 0; round < rounds; ++round) path.own(mine);
    _exit(allocations == before ? 0 : allocates);
}

class Budget : public testing::TestWithParam<Path> {};

std::optional<Ending> try_path(const Path& path) {
    Processes ranks;
    start_programs(ranks, {.ranks = 2, .wait = WaitPolicy::spin, .nontemporal_bytes = longest},
                   [&path](int rank) { follow(path, rank); });
    return ranks.ended_within(0, std::chrono::seconds(60));
}

// On a busy machine the partner may not run for so long that a wait takes its rare path, which wakes an agent. A path
// that itself exceeds its budget fails every time.
TEST_P(Budget, is_kept) {
    if (sanitized) GTEST_SKIP() << "sanitizers make system calls of their own";
    auto ending = try_path(GetParam());
    for (int more = 0; more < 4 && ending && ending->code != 0; ++more) ending = try_path(GetParam());
    ASSERT_TRUE(ending) << "rank 0 still runs";
    EXPECT_NE(ending->signal, SIGSYS) << "a system call";
    EXPECT_NE(ending->code, allocates) << "an allocation";
    EXPECT_EQ(ending->code, 0);
}

INSTANTIATE_TEST_SUITE_P(Paths, Budget, testing::ValuesIn(paths),
                         [](const auto& path) { return std::string(path.param.name); });

} // namespace
} // namespace kumiki::tests
