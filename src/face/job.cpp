#include "face/job.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <new>
#include <unistd.h>

#include "dsm/record_collection.hpp"
#include "fabric/wireup/wireup.hpp"
#include "platform/hardware.hpp"
#include "platform/thread.hpp"
#include "settings/explain_folder.hpp"
#include "settings/tuned.hpp"

using kumiki::face::is_refused;
using kumiki::face::report;

namespace kumiki::face {
namespace {

/// The only variable of the library without an owner: a C function returns only a code, so the sentence is kept here
/// until the thread asks for it.
thread_local std::string last_message = "no error";

/// Without a launcher, the process itself decides the settings that a launcher would have passed.
Result<> settle_alone(Settings& settings) {
    if (settings.threads.size() > 1)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("KUMIKI_THREADS has {0} numbers, but without a launcher this process is a job of one "
                                "rank; start the program by kumiki-run -n {0}, or give one number",
                                settings.threads.size()));
    const auto cpus = platform::usable_cpus();
    const int wanted = settings.threads.front();
    const auto threads = wanted == 0 ? cpus.size() : static_cast<std::size_t>(wanted);
    // Now, because a thread that creates a team may afterwards use fewer processors.
    settings.threads = {static_cast<int>(threads)};
    settings.crowded = threads > cpus.size();
    if (settings.bind == Binding::core) settings.cpus = cpus;
    if (settings.bind == Binding::shared && !cpus.empty())
        for (std::size_t thread = 0; thread < threads; ++thread)
            settings.cpus.push_back(settings.crowded ? cpus[platform::shared_place(thread, threads, cpus.size())]
                                                     : cpus[thread]);
    return {};
}

/// kumiki-run passes everything to its ranks; other launchers are recognized by the environment; without either, the
/// process is a job of its own.
Result<std::unique_ptr<fabric::Fabric>> join(Settings& settings) {
    if (settings.segment >= 0) return fabric::Fabric::join(settings);
    for (const std::string& remark : unknown_settings(environ)) std::fprintf(stderr, "kumiki: %s\n", remark.c_str());
    if (std::getenv("KUMIKI_SIZE") == nullptr) { // a user who sets it to 1 wants a job of one process
        auto met = fabric::meet_by_other_launcher(settings);
        if (!met) return tl::unexpected(met.error());
        if (*met) return fabric::Fabric::join(settings, (*met)->segment, (*met)->wireup);
    }
    if (auto settled = settle_alone(settings); !settled) return tl::unexpected(settled.error());
    return fabric::Fabric::join(settings);
}

/// Fails while a thread of this rank uses what would end with the job.
Result<> check_idle(kumiki_job& job) {
    if (auto released = job.shared->all_released(); !released) return released;
    const auto prefixed = [](const Failure& failure) { return fail(failure.status, "leave: " + failure.message); };
    const std::lock_guard lock(job.made_mutex);
    for (const auto& team : job.teams)
        if (team->team->running())
            return fail(KUMIKI_ERROR_STATE, "leave: a team runs; leave the job when all runs have ended");
    if (auto alone = job.all.collectives->alone(); !alone) return prefixed(alone.error());
    for (const auto& group : job.groups)
        if (auto alone = group->collectives->alone(); !alone) return prefixed(alone.error());
    return {};
}

/// Uses the lengths that `kumiki tune` found for this kind of machine, unless the user has set a length.
Result<message::Messages::Options> message_options(const Settings& settings) {
    message::Messages::Options options;
    options.fragment = settings.fragment_bytes.value_or(0);
    options.reserve = settings.reserve_bytes;
    if (settings.fragment_bytes) return options;
    const auto lengths = read_tuned(tuned_file(environ));
    if (!lengths) return tl::unexpected(lengths.error());
    if (lengths->empty()) return options;
    const std::string machine = platform::hardware_key();
    options.longest_near = tuned_length(*lengths, machine, memory_link);
    options.longest_far = tuned_length(*lengths, machine, network_link(settings.interface));
    return options;
}

} // namespace

kumiki_status report(const Failure& failure) {
    last_message = failure.message;
    return failure.status;
}

namespace {

kumiki_status refuse_child(const char* operation) {
    return report({KUMIKI_ERROR_STATE,
                   fmt::format("{}: this process ({}) was forked by a rank of the job after that had joined, and is no "
                               "rank; only the rank itself (process {}, if that still lives) may use the job, and its "
                               "children may exec another program or end by _exit",
                               operation, getpid(), getppid())});
}

kumiki_status refuse_null(const char* operation, const char* what) {
    return report({KUMIKI_ERROR_ARGUMENT, fmt::format("{}: the {}", operation, what)});
}

} // namespace

kumiki_status refuse_call(const kumiki_job* job, const char* operation) {
    return job == nullptr ? refuse_null(operation, "job is null") : refuse_child(operation);
}

kumiki_status refuse_call(const kumiki_group* group, const char* operation) {
    if (group != nullptr) return refuse_child(operation);
    return refuse_null(operation, "group (or the job) is null: it was freed, or this rank is in no such group");
}

kumiki_status refuse_call(const kumiki_team* team, const char* operation) {
    return team == nullptr ? refuse_null(operation, "team is null") : refuse_child(operation);
}

} // namespace kumiki::face

#define KUMIKI_TEXT_OF(number) #number
#define KUMIKI_TEXT(number) KUMIKI_TEXT_OF(number)

const char* kumiki_version(void) {
    return KUMIKI_TEXT(KUMIKI_VERSION_MAJOR) "." KUMIKI_TEXT(KUMIKI_VERSION_MINOR) "." KUMIKI_TEXT(
        KUMIKI_VERSION_PATCH);
}

const char* kumiki_error_message(void) { return kumiki::face::last_message.c_str(); }

kumiki_status kumiki_join(kumiki_job** job) {
    if (job == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "join: the address for the job is null"});
    auto settings = kumiki::read_settings(environ);
    if (!settings) return report(settings.error());
    auto options = kumiki::face::message_options(*settings);
    if (!options) return report(options.error());
    auto fabric = kumiki::face::join(*settings);
    if (!fabric) return report(fabric.error());
    auto made = std::make_unique<kumiki_job>();
    made->settings = std::move(*settings);
    made->fabric = std::move(*fabric);
    auto record = kumiki::explain::Record::open(kumiki::explain_folder(environ), made->fabric->rank(),
                                                made->fabric->size(), made->settings.host);
    if (!record) return report(record.error());
    made->record = std::move(*record);
    made->build(*options);
    if (auto started = made->messages->start_agent(); !started) return report(started.error());
    *job = made.release();
    return KUMIKI_OK;
}

kumiki_status kumiki_leave(kumiki_job* job) {
    if (job == nullptr) return KUMIKI_OK;
    if (job->is_inherited()) { // a destructor calls this and drops the result
        const auto status = kumiki::face::refuse_call(job, "leave");
        fmt::print(stderr, "kumiki: {}\n", kumiki_error_message());
        return status;
    }
    if (const auto idle = kumiki::face::check_idle(*job); !idle) { // here, too
        fmt::print(stderr, "kumiki: {}\n", idle.error().message);
        return report(idle);
    }
    auto met = job->all.collectives->end_open_barrier();
    if (met) met = job->shared->end_check();
    if (met) met = kumiki::dsm::collect_records(*job->fabric, *job->all.collectives, job->record.get());
    if (met) met = job->all.collectives->leave();
    job->fabric->leave();
    while (!job->teams.empty()) kumiki_team_destroy(job->teams.back().get());
    delete job;
    return report(met);
}

void kumiki_abandon(kumiki_job* job) {
    // The state stays `joined`, which tells the launcher that this rank failed. Threads of the job may still run, so
    // nothing is freed. But handlers belong to the program, and must not run once its objects are destroyed.
    if (!is_refused(job)) job->fabric->messenger().silence();
}

kumiki_status kumiki_on_failure(kumiki_job* job, kumiki_failure_handler function, void* context) {
    if (is_refused(job)) return kumiki::face::refuse_call(job, "on_failure");
    kumiki::fabric::FailureHandler::Function call;
    if (function != nullptr) call = [=](const std::string& sentence) { function(job, sentence.c_str(), context); };
    job->fabric->failure_handler().set(std::move(call));
    return KUMIKI_OK;
}

int kumiki_rank(const kumiki_job* job) { return is_refused(job) ? -1 : job->fabric->rank(); }
int kumiki_size(const kumiki_job* job) { return is_refused(job) ? -1 : job->fabric->size(); }

int kumiki_threads(const kumiki_job* job) {
    if (is_refused(job)) return -1;
    const int told = kumiki::Settings::of_rank(job->settings.threads, job->settings.rank);
    return told > 0 ? told : static_cast<int>(kumiki::platform::usable_cpus().size());
}

kumiki_status kumiki_threads_of(const kumiki_job* job, int rank, int* threads) {
    if (is_refused(job)) return kumiki::face::refuse_call(job, "threads_of");
    const kumiki::Settings& settings = job->settings;
    if (threads == nullptr) return report({KUMIKI_ERROR_ARGUMENT, "threads_of: the address for the number is null"});
    if (rank < 0 || rank >= settings.size)
        return report({KUMIKI_ERROR_ARGUMENT, fmt::format("threads_of: there is no rank {}; the job has ranks 0 to {}",
                                                          rank, settings.size - 1)});
    const int told = rank == settings.rank ? 0 : kumiki::Settings::of_rank(settings.job_threads, rank);
    *threads = told > 0 ? told : kumiki_threads(job);
    return KUMIKI_OK;
}

int kumiki_processors(const kumiki_job* job, const int** processors) {
    if (is_refused(job)) return 0;
    if (processors != nullptr) *processors = job->settings.cpus.data();
    return static_cast<int>(job->settings.cpus.size());
}

int kumiki_devices(const kumiki_job* job, const int** devices) {
    if (is_refused(job)) return 0;
    if (devices != nullptr) *devices = job->settings.devices.data();
    return static_cast<int>(job->settings.devices.size());
}

int kumiki_oversubscribed(const kumiki_job* job) {
    return !is_refused(job) && job->fabric->progress().crowded() ? 1 : 0;
}
