#include "trace/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "kumiki/kumiki.h"
#include "support/build.hpp"
#include "support/jobs.hpp"
#include "support/processes.hpp"

namespace kumiki::trace {
namespace {

using Json = nlohmann::json;

/// A file of its own for each test.
class TraceTest : public testing::Test {
protected:
    TraceTest() : path_(testing::TempDir() + "kumiki-trace-" + std::to_string(getpid())) {}
    ~TraceTest() override { std::remove(path_.c_str()); }

    Json content() const {
        std::ifstream file(path_);
        return Json::parse(file);
    }
    std::vector<Json> events() const { return content()["traceEvents"].get<std::vector<Json>>(); }
    std::map<std::string, int> counts(int rank) const {
        std::map<std::string, int> found;
        for (const Json& event : events())
            if (event["ph"] == "X" && event["pid"] == rank) ++found[event["name"].get<std::string>()];
        return found;
    }

    std::string path_;
};

TEST_F(TraceTest, WithoutAFileThereIsNone) {
    EXPECT_EQ(Trace::open("", 0, "").value(), nullptr);
    const Span span(nullptr, "nothing");
}

TEST_F(TraceTest, SpansOfAllThreadsAndRanksAreInOneFile) {
    {
        auto first = Trace::open(path_, 0, "a").value(), second = Trace::open(path_, 1, "").value();
        std::vector<std::thread> threads;
        for (Trace* trace : {first.get(), second.get(), second.get()})
            threads.emplace_back([trace] {
                for (int i = 0; i < 100; ++i) const Span span(trace, "put", 7, 64);
            });
        for (std::thread& each : threads) each.join();
        const Span empty(first.get(), "barrier");
    }
    EXPECT_EQ(counts(0), (std::map<std::string, int>{{"put", 100}, {"barrier", 1}}));
    EXPECT_EQ(counts(1), (std::map<std::string, int>{{"put", 200}}));
    std::set<int> threads;
    for (const Json& event : events()) {
        if (event["ph"] == "M") continue;
        threads.insert(event["tid"].get<int>());
        EXPECT_GE(event["dur"].get<double>(), 0);
        const Json expected = event["name"] == "put" ? Json{{"rank", 7}, {"bytes", 64}} : Json::object();
        EXPECT_EQ(event["args"], expected);
    }
    EXPECT_EQ(threads.size(), 4u);
    EXPECT_EQ(events()[0]["args"]["name"], "rank 1");
    EXPECT_EQ(events()[201]["args"]["name"], "rank 0 on a");
}

TEST_F(TraceTest, TheFirstRankBeginsTheFileAnew) {
    std::ofstream(path_) << "the trace of another run";
    auto trace = Trace::open(path_, 0, "").value();
    EXPECT_EQ(events().size(), 0u);
    trace.reset();
    EXPECT_EQ(events().size(), 1u);
}

TEST_F(TraceTest, TimesAreOfTheRunAndKeepTheirNanoseconds) {
    const auto first = Trace::open(path_, 0, "").value();
    auto second = Trace::open(path_, 1, "").value();
    const auto now =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    second->add({"put", now, now + 151, 1, 0, 8});
    second->add({"put", now + 151, now + 303, 1, 0, 8});
    second->add({"put", now - 100'000'000'000, now - 99'999'999'999, 1, 0, 8});
    second.reset();
    const auto start = std::stoll(content()["otherData"]["start_ns"].get<std::string>());
    const auto made = events();
    ASSERT_EQ(made.size(), 4u);
    for (int i = 1; i < 4; ++i) EXPECT_LT(std::abs(made[static_cast<std::size_t>(i)]["ts"].get<double>()), 200e6);
    EXPECT_NEAR(made[1]["ts"].get<double>() * 1e3, static_cast<double>(now - start), 1e-3);
    EXPECT_NEAR(made[1]["dur"].get<double>(), 0.151, 1e-9);
    EXPECT_NEAR(made[2]["ts"].get<double>() - made[1]["ts"].get<double>(), 0.151, 1e-6);
    EXPECT_NEAR(made[3]["ts"].get<double>() * 1e3, static_cast<double>(now - start) - 100e9, 1e-2);
}

TEST_F(TraceTest, AnyNameOfAHostIsValidJson) {
    const std::string name = "a \"host\"\\ \n\x01 \xff of {} mine";
    Trace::open(path_, 0, name).value().reset();
    EXPECT_EQ(events()[0]["args"]["name"], "rank 0 on a \"host\"\\ \n\x01 \xef\xbf\xbd of {} mine");
}

TEST_F(TraceTest, AFileThatAnotherHostBeganOrNobodyIsBegun) {
    Trace::open(path_, 1, "far").value().reset();
    EXPECT_EQ(events().size(), 1u);
    std::ofstream(path_) << "{\"half";
    Trace::open(path_, 1, "far").value().reset();
    EXPECT_EQ(events().size(), 1u);
}

TEST_F(TraceTest, RanksThatEndTogetherLoseNothing) {
    tests::Processes ranks;
    Trace::open(path_, 0, "").value().reset();
    for (int rank = 1; rank <= 8; ++rank)
        ranks.start([&, rank] {
            const auto trace = Trace::open(path_, rank, "").value();
            for (int i = 0; i < 50; ++i) const Span span(trace.get(), "put", 0, 8);
        });
    tests::expect_good_ends(ranks);
    for (int rank = 1; rank <= 8; ++rank) EXPECT_EQ(counts(rank), (std::map<std::string, int>{{"put", 50}}));
}

// At whichever moment a rank is killed while it writes, a parser accepts the file.
TEST_F(TraceTest, ARankThatIsKilledWhileItWritesLeavesValidJson) {
    Trace::open(path_, 0, "").value().reset();
    tests::Processes ranks;
    for (int delay = 0; delay < 40; ++delay) {
        ranks.start([&] {
            const auto trace = Trace::open(path_, 1, "").value();
            for (int i = 0; i < 50'000; ++i) trace->add({"put", i, i + 1, 1, 0, 8});
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        ranks.kill(delay, SIGKILL);
        ASSERT_TRUE(ranks.ended_within(delay, std::chrono::seconds(60)));
        ASSERT_NO_THROW(content()) << "killed after " << delay << " ms";
        if (delay % 10 == 9) Trace::open(path_, 0, "").value().reset();
    }
    std::remove((path_ + ".part").c_str());
}

TEST_F(TraceTest, ADeviceStaysADevice) {
    EXPECT_FALSE(Trace::open("/dev/null", 0, ""));
    struct stat status{};
    ASSERT_EQ(stat("/dev/null", &status), 0);
    EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(TraceTest, AFileThatCannotBeWrittenIsAnError) {
    const auto refused = Trace::open("/nowhere/trace", 0, "");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, KUMIKI_ERROR_ENVIRONMENT);
    EXPECT_NE(refused.error().message.find("KUMIKI_TRACE=/nowhere/trace"), std::string::npos);
}

TEST_F(TraceTest, AJoinThatIsRefusedDoesNotBeginTheFileAnew) {
    tests::run_programs({.ranks = 1}, [this](int) {
        setenv("KUMIKI_TRACE", path_.c_str(), 1);
        kumiki_job *job = nullptr, *again = nullptr;
        ASSERT_EQ(kumiki_join(&job), KUMIKI_OK) << kumiki_error_message();
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
        ASSERT_EQ(kumiki_leave(job), KUMIKI_OK);
        tests::expect_error(kumiki_join(&again), KUMIKI_ERROR_STATE, {"already left"});
    });
    EXPECT_EQ(counts(0), (std::map<std::string, int>{{"barrier", 1}}));
}

TEST_F(TraceTest, WhatARankDoesIsThere) {
    tests::run_jobs_as_threads({.ranks = 2, .trace = path_}, [](kumiki_job* job) {
        void* memory = nullptr;
        ASSERT_EQ(kumiki_allocate(job, 4096, &memory), KUMIKI_OK);
        auto* word = static_cast<std::uint64_t*>(memory);
        const int other = 1 - kumiki_rank(job);
        std::array<char, 100> data{};
        ASSERT_EQ(kumiki_put_signal(job, other, word + 8, data.data(), data.size(), word, KUMIKI_SIGNAL_SET, 1),
                  KUMIKI_OK);
        ASSERT_EQ(kumiki_signal_wait(job, word, KUMIKI_EQUAL, 1, nullptr), KUMIKI_OK);
        kumiki_request request = nullptr;
        ASSERT_EQ(kumiki_send(job, other, 3, data.data(), data.size(), &request), KUMIKI_OK);
        ASSERT_EQ(kumiki_wait(job, &request, nullptr), KUMIKI_OK);
        ASSERT_EQ(kumiki_receive(job, other, 3, data.data(), data.size(), &request), KUMIKI_OK);
        ASSERT_EQ(kumiki_wait(job, &request, nullptr), KUMIKI_OK);
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
    for (int rank = 0; rank < 2; ++rank) {
        const auto found = counts(rank);
        for (const char* name : {"put_signal", "signal_wait", "send", "wait", "barrier"})
            EXPECT_TRUE(found.contains(name)) << name << " of rank " << rank;
    }
}

// One megabyte, in fragments: on one host copied by either side, between hosts sent by one and placed by the other.
TEST_F(TraceTest, ALongMessageIsSeenInFragments) {
    static constexpr std::size_t bytes = std::size_t{1} << 20;
    tests::run_jobs_as_threads({.ranks = 2, .trace = path_}, [](kumiki_job* job) {
        std::vector<char> data(bytes);
        kumiki_request request = nullptr;
        ASSERT_EQ(kumiki_rank(job) == 0 ? kumiki_send(job, 1, 3, data.data(), bytes, &request)
                                        : kumiki_receive(job, 0, 3, data.data(), bytes, &request),
                  KUMIKI_OK);
        ASSERT_EQ(kumiki_wait(job, &request, nullptr), KUMIKI_OK);
        ASSERT_EQ(kumiki_barrier(job), KUMIKI_OK);
    });
    std::map<std::string, std::size_t> moved;
    for (const Json& event : events())
        if (event["ph"] == "X" && event["name"].get<std::string>().ends_with("_fragment")) {
            moved[event["name"]] += event["args"]["bytes"].get<std::size_t>();
            EXPECT_EQ(event["args"]["rank"], 1 - event["pid"].get<int>());
            EXPECT_LT(event["args"]["bytes"], bytes);
        }
    using Moved = std::map<std::string, std::size_t>;
    EXPECT_EQ(moved, tests::over_network() ? (Moved{{"send_fragment", bytes}, {"place_fragment", bytes}})
                                           : (Moved{{"copy_fragment", bytes}}));
}

} // namespace
} // namespace kumiki::trace
