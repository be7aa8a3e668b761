// The lock rule (src/platform/held_locks.hpp): no public call touches the program's memory while it holds a lock of the
// library. All memory that the calls get is inaccessible; the first touch of each page is a fault, whose handler checks
// the locks that the thread holds, and then makes the page accessible, as for a page that arrives from another host. A
// system call with such memory fails, and so does its test.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <span>
#include <sys/mman.h>
#include <vector>

#include "kumiki/kumiki.h"
#include "platform/fault_signals.hpp"
#include "platform/held_locks.hpp"
#include "platform/memory.hpp"
#include "support/jobs.hpp"
#include "support/pattern.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

/// Makes a page accessible when it is touched, and checks the lock rule. A range for each kind of test.
class Admission final : public platform::FaultHandler {
public:
    bool fault(std::byte* address, platform::Attempt) override {
        platform::expect_no_lock("the program's memory is touched");
        ++faults;
        const std::uintptr_t page =
            reinterpret_cast<std::uintptr_t>(address) / platform::page_size() * platform::page_size();
        return mprotect(reinterpret_cast<void*>(page), platform::page_size(), PROT_READ | PROT_WRITE) == 0;
    }
    std::size_t accessible(const std::byte* address) const override {
        return platform::page_size() - reinterpret_cast<std::uintptr_t>(address) % platform::page_size();
    }
    std::atomic<int> faults{0};
};

/// Memory in which every page is inaccessible until it is touched.
class Guarded {
public:
    explicit Guarded(std::size_t bytes)
        : bytes_(platform::round_up(bytes + 1, platform::page_size())),
          memory_(static_cast<std::byte*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        auto range = platform::FaultRange::claim(memory_, bytes_, admission, platform::FaultRange::Purpose::repair);
        EXPECT_TRUE(range.has_value());
        range_.emplace(std::move(*range));
    }
    ~Guarded() {
        range_.reset();
        munmap(memory_, bytes_);
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    std::byte* data() { return memory_; }
    std::span<std::byte> span(std::size_t bytes) { return {memory_, bytes}; }
    /// Makes all pages inaccessible again.
    void conceal() { mprotect(memory_, bytes_, PROT_NONE); }

    static inline Admission admission;

private:
    std::size_t bytes_;
    std::byte* memory_;
    std::optional<platform::FaultRange> range_;
};

/// The arguments with which a call is tried: this rank's job and group, its number, the number of ranks, and a length.
struct Try {
    kumiki_job* job;
    kumiki_group* group;
    int rank, size;
    std::size_t bytes;
    std::byte* region; ///< of `size` times `bytes`
    int next() const { return (rank + 1) % size; }
    int previous() const { return (rank + size - 1) % size; }
};

void expect_ok(kumiki_status status) { EXPECT_EQ(status, KUMIKI_OK) << kumiki_error_message(); }

void wait(const Try& with, kumiki_request request) { expect_ok(kumiki_wait(with.job, &request, nullptr)); }

void send_to_next(const Try& with, int tag, std::byte* data) {
    kumiki_request request = nullptr;
    expect_ok(kumiki_send(with.job, with.next(), tag, data, with.bytes, &request));
    wait(with, request);
}

kumiki_request receive_from_previous(const Try& with, int tag, std::byte* into) {
    kumiki_request request = nullptr;
    expect_ok(kumiki_receive(with.job, with.previous(), tag, into, with.bytes, &request));
    return request;
}

struct Call {
    const char* name;
    std::function<void(const Try&)> make;
};

void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

constexpr auto sum = KUMIKI_SUM;
constexpr auto words = KUMIKI_UINT64;

const std::array calls{
    Call{"put",
         [](const Try& with) {
             Guarded source(with.bytes);
             expect_ok(kumiki_put(with.job, with.next(), with.region, source.data(), with.bytes));
         }},
    Call{"put_signal",
         [](const Try& with) {
             Guarded source(with.bytes);
             expect_ok(kumiki_put_signal(with.job, with.next(), with.region + 8, source.data(), with.bytes - 8,
                                         reinterpret_cast<std::uint64_t*>(with.region), KUMIKI_SIGNAL_SET, 1));
         }},
    Call{"get",
         [](const Try& with) {
             Guarded into(with.bytes);
             expect_ok(kumiki_get(with.job, with.next(), with.region, into.data(), with.bytes));
         }},
    Call{"start_put",
         [](const Try& with) {
             Guarded source(with.bytes);
             kumiki_request request = nullptr;
             expect_ok(kumiki_start_put(with.job, with.next(), with.region, source.data(), with.bytes, &request));
             wait(with, request);
         }},
    Call{"start_get",
         [](const Try& with) {
             Guarded into(with.bytes);
             kumiki_request request = nullptr;
             expect_ok(kumiki_start_get(with.job, with.next(), with.region, into.data(), with.bytes, &request));
             wait(with, request);
         }},
    Call{"fetch_add",
         [](const Try& with) {
             Guarded before(8);
             expect_ok(kumiki_fetch_add(with.job, with.next(), reinterpret_cast<std::uint64_t*>(with.region), 1,
                                        reinterpret_cast<std::uint64_t*>(before.data())));
         }},
    Call{"active_message",
         [](const Try& with) {
             Guarded payload(KUMIKI_ACTIVE_MESSAGE_MAX);
             const std::size_t bytes = std::min<std::size_t>(with.bytes, KUMIKI_ACTIVE_MESSAGE_MAX);
             for (int round = 0; round < 100; ++round) // more than fits into an inbox
                 expect_ok(kumiki_active_message(with.job, with.next(), 0, payload.data(), bytes));
         }},
    Call{"receive, then send",
         [](const Try& with) {
             Guarded data(with.bytes), into(with.bytes);
             const kumiki_request receive = receive_from_previous(with, 1, into.data());
             expect_ok(kumiki_barrier(with.job));
             send_to_next(with, 1, data.data());
             wait(with, receive);
         }},
    Call{"send, then receive",
         [](const Try& with) {
             Guarded data(with.bytes), into(with.bytes);
             kumiki_request send = nullptr;
             expect_ok(kumiki_send(with.job, with.next(), 2, data.data(), with.bytes, &send));
             expect_ok(kumiki_barrier(with.job));
             int found = 0;
             kumiki_message_status status{};
             expect_ok(kumiki_probe(with.job, with.previous(), 2, &found, &status));
             wait(with, receive_from_previous(with, 2, into.data()));
             wait(with, send);
         }},
    Call{"many sends, then receive",
         [](const Try&
                with) { // more than the channel's cells and slots; of the longest ones fewer, for the time they take
             const std::size_t count = with.bytes > 100'000 ? 20 : 100;
             Guarded data(with.bytes * count), into(with.bytes * count);
             std::vector<kumiki_request> requests(2 * count);
             for (std::size_t each = 0; each < count; ++each)
                 expect_ok(kumiki_send(with.job, with.next(), 3, data.data() + each * with.bytes, with.bytes,
                                       &requests[each]));
             for (std::size_t each = 0; each < count; ++each)
                 requests[count + each] = receive_from_previous(with, 3, into.data() + each * with.bytes);
             expect_ok(kumiki_wait_all(with.job, requests.data(), requests.size(), nullptr));
         }},
    Call{"broadcast",
         [](const Try& with) {
             Guarded data(with.bytes);
             expect_ok(kumiki_broadcast(with.job, data.data(), with.bytes, 0));
         }},
    Call{"reduce",
         [](const Try& with) {
             Guarded input(with.bytes), output(with.bytes);
             expect_ok(kumiki_reduce(with.job, input.data(), output.data(), with.bytes / 8, words, sum, 0));
         }},
    Call{"all_reduce",
         [](const Try& with) {
             Guarded input(with.bytes), output(with.bytes);
             expect_ok(kumiki_all_reduce(with.job, input.data(), output.data(), with.bytes / 8, words, sum));
         }},
    Call{"all_to_all",
         [](const Try& with) {
             const std::size_t all = with.bytes * static_cast<std::size_t>(with.size);
             Guarded input(all), output(all);
             expect_ok(kumiki_all_to_all(with.job, input.data(), output.data(), with.bytes));
         }},
    Call{"all_to_all_v",
         [](const Try& with) {
             const auto size = static_cast<std::size_t>(with.size);
             Guarded input(with.bytes * size), output(with.bytes * size), sizes(8 * size), offsets(8 * size);
             auto* const lengths = reinterpret_cast<std::size_t*>(sizes.data());
             auto* const places = reinterpret_cast<std::size_t*>(offsets.data());
             for (std::size_t rank = 0; rank < size; ++rank) {
                 lengths[rank] = with.bytes;
                 places[rank] = rank * with.bytes;
             }
             expect_ok(kumiki_all_to_all_v(with.job, input.data(), lengths, places, output.data(), lengths, places));
         }},
    Call{"all_gather",
         [](const Try& with) {
             Guarded input(with.bytes), output(with.bytes * static_cast<std::size_t>(with.size));
             expect_ok(kumiki_group_all_gather(with.group, input.data(), with.bytes, output.data()));
         }},
    Call{"gather",
         [](const Try& with) {
             Guarded input(with.bytes), output(with.bytes * static_cast<std::size_t>(with.size));
             expect_ok(kumiki_group_gather(with.group, input.data(), with.bytes, output.data(), 0));
         }},
    Call{"scatter",
         [](const Try& with) {
             Guarded input(with.bytes * static_cast<std::size_t>(with.size)), output(with.bytes);
             expect_ok(kumiki_group_scatter(with.group, input.data(), output.data(), with.bytes, 0));
         }},
    Call{"scan",
         [](const Try& with) {
             Guarded input(with.bytes), output(with.bytes);
             expect_ok(kumiki_group_scan(with.group, input.data(), output.data(), with.bytes / 8, words, sum));
         }},
    Call{"reduce_scatter",
         [](const Try& with) {
             Guarded input(with.bytes * static_cast<std::size_t>(with.size)), output(with.bytes);
             expect_ok(
                 kumiki_group_reduce_scatter(with.group, input.data(), output.data(), with.bytes / 8, words, sum));
         }},
};

class LockRule : public testing::TestWithParam<Call> {};

TEST_P(LockRule, is_kept_by) {
    const Watchdog watchdog("a call with memory that is not there");
    Guarded::admission.faults = 0;
    run_jobs_as_threads({.ranks = 3}, [](kumiki_job* job) {
        int handler = 0;
        expect_ok(kumiki_register_handler(job, [](kumiki_job*, int, const void*, size_t, void*) {}, nullptr, &handler));
        // Lengths that travel in a cell, in a slot, on a board or in parts that both sides copy, and a longer one.
        for (const std::size_t bytes :
             {std::size_t{16}, std::size_t{6000}, std::size_t{50'000}, std::size_t{400'000}}) {
            Try with{job, kumiki_job_group(job), kumiki_rank(job), kumiki_size(job), bytes, nullptr};
            void* region = nullptr;
            expect_ok(kumiki_allocate(job, bytes, &region));
            with.region = static_cast<std::byte*>(region);
            GetParam().make(with);
            expect_ok(kumiki_barrier(job));
            expect_ok(kumiki_release(job, region));
        }
    });
    EXPECT_GT(Guarded::admission.faults, 0);
}

INSTANTIATE_TEST_SUITE_P(Calls, LockRule, testing::ValuesIn(calls),
                         [](const auto& call) { return "call_" + std::to_string(call.index); });

std::vector<std::byte> pattern_of(int rank, std::size_t bytes) {
    return tests::pattern(bytes, 31 * static_cast<std::uint64_t>(rank));
}

// What a call moves from or into such memory is what it moves from or into any other.
TEST(LockRuleTest, DataOfMemoryThatFaultsArriveWhole) {
    const Watchdog watchdog("transfers of memory that is not there");
    run_jobs_as_threads({.ranks = 3}, [](kumiki_job* job) {
        const int rank = kumiki_rank(job), size = kumiki_size(job);
        for (const std::size_t bytes : {std::size_t{16}, std::size_t{6000}, std::size_t{400'000}}) {
            Try with{job, kumiki_job_group(job), rank, size, bytes, nullptr};
            void* region = nullptr;
            expect_ok(kumiki_allocate(job, bytes, &region));
            Guarded source(bytes), into(bytes), all(bytes * 3);
            const auto own = pattern_of(rank, bytes), of_previous = pattern_of(with.previous(), bytes);
            const auto arrived = [&](Guarded& memory) {
                const bool equal = std::ranges::equal(memory.span(bytes), of_previous);
                std::ranges::fill(memory.span(bytes), std::byte{0});
                memory.conceal();
                return equal;
            };
            std::ranges::copy(own, source.data());
            source.conceal();

            expect_ok(kumiki_put(job, with.next(), region, source.data(), bytes));
            expect_ok(kumiki_barrier(job));
            EXPECT_TRUE(std::ranges::equal(std::span(static_cast<std::byte*>(region), bytes), of_previous)) << bytes;
            expect_ok(kumiki_barrier(job));

            std::ranges::copy(own, static_cast<std::byte*>(region));
            expect_ok(kumiki_barrier(job));
            expect_ok(kumiki_get(job, with.previous(), region, into.data(), bytes));
            EXPECT_TRUE(arrived(into)) << bytes;
            kumiki_request request = nullptr;
            expect_ok(kumiki_start_get(job, with.previous(), region, into.data(), bytes, &request));
            wait(with, request);
            EXPECT_TRUE(arrived(into)) << bytes;

            source.conceal();
            const kumiki_request receive = receive_from_previous(with, 1, into.data());
            send_to_next(with, 1, source.data());
            wait(with, receive);
            EXPECT_TRUE(arrived(into)) << bytes;

            source.conceal();
            expect_ok(kumiki_group_all_gather(with.group, source.data(), bytes, all.data()));
            for (int from = 0; from < size; ++from)
                EXPECT_TRUE(std::ranges::equal(std::span(all.data() + static_cast<std::size_t>(from) * bytes, bytes),
                                               pattern_of(from, bytes)))
                    << bytes;
            expect_ok(kumiki_release(job, region));
        }
    });
}

// A message that is longer than its receive stores nothing, and its copy is freed.
TEST(LockRuleTest, AMessageThatIsTooLongLeavesSuchMemoryAsItWas) {
    const Watchdog watchdog("a message that is too long");
    run_jobs_as_threads({.ranks = 2}, [](kumiki_job* job) {
        Guarded into(8);
        if (kumiki_rank(job) == 0) {
            kumiki_request request = nullptr;
            expect_ok(kumiki_receive(job, 1, 5, into.data(), 8, &request));
            expect_error(kumiki_wait(job, &request, nullptr), KUMIKI_ERROR_ARGUMENT, {"64 bytes"});
            EXPECT_EQ(into.data()[0], std::byte{0});
        } else {
            const std::vector<std::byte> data(64, std::byte{1});
            kumiki_request request = nullptr;
            expect_ok(kumiki_send(job, 0, 5, data.data(), data.size(), &request));
            expect_ok(kumiki_wait(job, &request, nullptr));
        }
        expect_ok(kumiki_barrier(job));
    });
}

TEST(LockRuleDeathTest, a_violation_ends_the_process_with_a_sentence) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            platform::Mutex mutex;
            const std::lock_guard lock(mutex);
            platform::expect_no_lock("a message is read");
        },
        "a message is read while this thread holds 1 lock");
}

} // namespace
} // namespace kumiki::tests
