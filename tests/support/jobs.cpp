#include "support/jobs.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

#include "face/job.hpp"

namespace kumiki::tests {
namespace {

kumiki_job* join(const JobOptions& options, int rank, Machines& machines) {
    auto job = std::make_unique<kumiki_job>();
    job->settings = settings_of(options, rank);
    job->fabric = machines.join(rank);
    job->build({});
    EXPECT_TRUE(job->messages->start_agent());
    return job.release();
}

const char* name(WaitPolicy policy) {
    switch (policy) {
    case WaitPolicy::adaptive: return "adaptive";
    case WaitPolicy::spin: return "spin";
    case WaitPolicy::yield: return "yield";
    case WaitPolicy::sleep: return "sleep";
    }
    return "";
}

/// The environment in which kumiki-run would start the rank.
void set_environment(const JobOptions& options, int rank, int descriptor) {
    const auto set = [](const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); };
    set("KUMIKI_RANK", std::to_string(rank));
    set("KUMIKI_SIZE", std::to_string(options.ranks));
    set("KUMIKI_SEGMENT", std::to_string(descriptor));
    set("KUMIKI_CROWDED", options.crowded ? "yes" : "no");
    set("KUMIKI_WAIT", name(options.wait));
    set("KUMIKI_THREADS", std::to_string(options.threads));
    set("KUMIKI_NONTEMPORAL", std::to_string(options.nontemporal_bytes));
    set("KUMIKI_PIN", options.pin ? "yes" : "no");
}

} // namespace

void run_jobs_as_threads(const JobOptions& options, const std::function<void(kumiki_job*)>& body) {
    Machines machines(options);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < options.ranks; ++rank)
        ranks.emplace_back([&, rank] {
            kumiki_job* job = join(options, rank, machines);
            body(job);
            EXPECT_EQ(kumiki_leave(job), KUMIKI_OK) << kumiki_error_message();
        });
    for (auto& rank : ranks) rank.join();
}

void start_programs(Processes& processes, const JobOptions& options, const std::function<void(int rank)>& body) {
    const auto segment = make_segment(options); // closed here at the end; the programs inherit it
    for (int rank = 0; rank < options.ranks; ++rank)
        processes.start([&, rank] {
            set_environment(options, rank, segment->descriptor());
            body(rank);
        });
}

void run_programs(const JobOptions& options, const std::function<void(int rank)>& body) {
    Processes processes;
    start_programs(processes, options, body);
    expect_good_ends(processes);
}

void expect_error(kumiki_status status, kumiki_status expected, const std::vector<std::string>& words) {
    EXPECT_EQ(status, expected);
    const std::string message = kumiki_error_message();
    for (const std::string& word : words)
        EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
}

} // namespace kumiki::tests
