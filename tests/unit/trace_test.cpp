#include "trace/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "kumiki/kumiki.h"
#include "support/build.hpp"
#include "support/jobs.hpp"

namespace kumiki::trace {
namespace {

using Json = nlohmann::json;

/// A file of its own for each test.
class TraceTest : public testing::Test {
protected:
    TraceTest() : path_(testing::TempDir() + "kumiki-trace-" + std::to_string(getpid())) {}
    ~TraceTest() override { std::remove(path_.c_str()); }

    /// What a viewer makes of the file: the last comma and the bracket are its own affair.
    std::vector<Json> events() const {
        std::stringstream text;
        text << std::ifstream(path_).rdbuf();
        std::string array = text.str();
        array.resize(array.find_last_not_of(",\n") + 1);
        return Json::parse(array + "]").get<std::vector<Json>>();
    }
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
    Trace::open(path_, 0, "").value().reset();
    EXPECT_EQ(events().size(), 1u);
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
