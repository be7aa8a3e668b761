#include "launch/host/host_daemon.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "launch/command/outcome.hpp"
#include "launch/host/rank_process.hpp"
#include "launch/system/descendants.hpp"

namespace kumiki::launch {
namespace {

using namespace std::chrono_literals;

/// The time between the request to end and SIGKILL.
constexpr auto grace = 1s;

/// How long to wait for the supervisor's answer, which does not come if the supervisor is stopped.
constexpr auto answer_limit = 500ms;

} // namespace

HostDaemon::HostDaemon(const Job& job, Supervisor supervisor, std::unique_ptr<Link> link)
    : job_(job),
      supervisor_(std::move(supervisor)),
      link_(std::move(link)),
      ranks_(static_cast<std::size_t>(job.ranks())),
      was_ending_(ranks_.size()),
      stopped_(job.share) {}

int HostDaemon::run() {
    link_->attach(events_, *this);
    std::vector<pid_t> survivors;
    if (auto prepared = prepare(); prepared) survivors = run_ranks();
    else set_verdict({exit_code::environment, on_host(job_.share, prepared.error().message)});
    // From here on there is nothing left to end. A reader that has stopped reading must not keep the host daemon alive
    // when the supervisor is gone.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor_.process) return exit_code::failed;
    if (!survivors.empty())
        link_->remark(fmt::format("these processes of the job cannot be ended: {}", fmt::join(survivors, ", ")));
    return link_->close(verdict_);
}

/// Returns the processes that did not end.
std::vector<pid_t> HostDaemon::run_ranks() {
    start_ranks();
    timer_.start(events_, std::chrono::nanoseconds(std::chrono::seconds(job_.settings.timeout_s)) / beats_per_timeout,
                 [this] { beat(); });
    while (children_left_ && !at_once_) watch();
    timer_.stop();
    auto survivors = end_descendants();
    finish_output();
    return survivors;
}

Result<> HostDaemon::prepare() {
    // The descriptors that ranks inherit have numbers above those that programs use. If the ranks' output and cards go
    // through the host daemon, each rank needs two pipes and two sockets.
    constexpr rlim_t few = 30, for_each_rank = 4;
    const bool goes_through_keeper = job_.options.label || !job_.share.host.empty();
    const auto needed =
        lowest_shared_descriptor + few + (goes_through_keeper ? for_each_rank * static_cast<rlim_t>(job_.ranks()) : 0);
    if (auto enough = check_limit_of_open_files(needed, fmt::format("{} rank(s) on this host", job_.ranks())); !enough)
        return enough;
    auto segment = fabric::shm::Segment::create(job_.ranks(), job_.settings.arena_bytes);
    if (!segment) return tl::unexpected(segment.error());
    segment_.emplace(std::move(*segment));
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    child_signals_ = platform::Descriptor(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    exec_failures_ = platform::Pipe::create();
    shared_ = platform::Descriptor(fcntl(segment_->descriptor(), F_DUPFD, lowest_shared_descriptor));
    if (!child_signals_ || !exec_failures_ || !shared_)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot open the descriptors that starting ranks needs: {} (ulimit -n 1024)",
                                std::strerror(errno)));
    fcntl(exec_failures_.read.get(), F_SETFL, O_NONBLOCK);
    fcntl(supervisor_.notices.get(), F_SETFL, O_NONBLOCK);
    // Each of these events only wakes the host daemon, which then reads all of them in an order that matters.
    for (const int descriptor : {supervisor_.notices.get(), child_signals_.get(), exec_failures_.read.get()})
        events_.add(descriptor, EPOLLIN, nullptr);
    return {};
}

void HostDaemon::start_ranks() {
    Environment environment(environ);
    tell_job(environment, job_, shared_.get());
    for (int rank = 0; rank < job_.ranks() && start_rank(rank, environment); ++rank) {}
    exec_failures_.write.reset();
    link_->started();
}

bool HostDaemon::start_rank(int rank, const Environment& environment) {
    const pid_t daemon = getpid();
    const auto streams = link_->open(rank, segment_->block(rank));
    const pid_t process = streams ? fork() : -1;
    if (process == 0)
        become_rank({.job = job_,
                     .rank = rank,
                     .environment = environment,
                     .daemon = daemon,
                     .group = supervisor_.group,
                     .inherited = supervisor_.inherited,
                     .streams = *streams,
                     .failures = exec_failures_.write.get()});
    if (process < 0) {
        end_with(
            {exit_code::environment,
             on_host(job_.share,
                     fmt::format("cannot start rank {} of {}: {}; the limits of the user (ulimit -u, ulimit -n) or "
                                 "of the container do not allow so many",
                                 job_.share.first + rank, job_.share.size, std::strerror(errno)))});
        return false;
    }
    ranks_[static_cast<std::size_t>(rank)] = process;
    ++running_;
    return true;
}

/// Waits until something happens, and handles it.
void HostDaemon::watch() {
    events_.wait(deadline_);
    signalfd_siginfo ignored;
    bool children_changed = false;
    while (read(child_signals_.get(), &ignored, sizeof ignored) > 0) children_changed = true;
    read_notices();
    read_exec_failures();
    reap();
    if (children_changed) look_for_stopped();
    // Processes that ranks have left behind (background processes of a script) belong to the job and end with it.
    if (running_ == 0 && children_left_) ask_to_end();
    if (deadline_ && Clock::now() >= *deadline_) at_once_ = true;
}

void HostDaemon::read_notices() {
    SignalNotice notice;
    ssize_t bytes = 0;
    while ((bytes = read(supervisor_.notices.get(), &notice, sizeof notice)) == static_cast<ssize_t>(sizeof notice)) {
        if (notice.signal == signal_query) answered_ = true;
        else on_signal(notice);
    }
    if (bytes == 0) on_link_lost();
}

void HostDaemon::on_signal(const SignalNotice& notice) {
    if (notice.signal == SIGTSTP || notice.signal == SIGCONT) paused_ = notice.signal == SIGTSTP;
    if (asks_to_end(notice.signal)) end_by_user(notice);
    else if (!notice.has_reached_ranks) pass_on(notice.signal);
}

void HostDaemon::on_link_lost() {
    end_descendants();
    _exit(exit_code::failed); // there is no process left to report to
}

/// A terminal's Ctrl-C reaches the ranks and the supervisor at the same time. Before the host daemon treats the death
/// of a rank as a failure, it asks the supervisor whether the user requested the end; when the kernel shows the dead
/// rank, the signal is already pending at the supervisor.
void HostDaemon::ask_supervisor() {
    answered_ = false;
    if (getppid() == supervisor_.process) kill(supervisor_.process, signal_query);
    pollfd notices{supervisor_.notices.get(), POLLIN, 0};
    const auto limit = Clock::now() + answer_limit;
    while (!answered_ && Clock::now() < limit) {
        poll(&notices, 1, milliseconds_until(limit));
        read_notices();
    }
}

void HostDaemon::read_exec_failures() {
    ExecFailure failure;
    ssize_t bytes = 0;
    while (exec_failures_.read &&
           (bytes = read(exec_failures_.read.get(), &failure, sizeof failure)) == static_cast<ssize_t>(sizeof failure))
        end_with(
            {exit_code::environment, on_host(job_.share, cannot_run(job_.options.program.front(), failure.error))});
    if (bytes != 0 || !exec_failures_.read) return;
    events_.remove(exec_failures_.read.get());
    exec_failures_.read.reset(); // every rank is running its program
}

void HostDaemon::reap() {
    int status = 0;
    pid_t process = 0;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0)
        if (const auto found = std::ranges::find(ranks_, process); found != ranks_.end())
            rank_ended(static_cast<int>(found - ranks_.begin()), status);
    children_left_ = process == 0;
}

void HostDaemon::rank_ended(int rank, int status) {
    const auto state = segment_->block(rank).state.load();
    const RankEnd end{job_.share.first + rank, std::exchange(ranks_[static_cast<std::size_t>(rank)], 0), status,
                      state == fabric::shm::RankState::joined, state == fabric::shm::RankState::over};
    --running_;
    if (!is_failure(end) && !end.over) return;
    Verdict verdict{exit_code_of(end), sentence(end, job_.share)};
    if (verdict_ && was_ending_[static_cast<std::size_t>(rank)]) reconsider(std::move(verdict));
    if (verdict_) return;
    read_exec_failures();
    if (verdict_) return;
    ask_supervisor();
    end_with(std::move(verdict));
}

/// A rank has ended that was ending already when the verdict was reached, but the verdict does not take it into
/// account: ranks of this host or of others that lost their connection to it may have ended first.
void HostDaemon::reconsider(Verdict verdict) {
    const bool another_host_decided = verdict_->code == exit_code::failed && verdict_->sentence.empty();
    if (another_host_decided || may_be_caused_by(*verdict_, verdict)) set_verdict(std::move(verdict));
}

// -- ranks that are stopped --

/// The kernel reports at once (SIGCHLD) when a child is stopped or continued by a signal. At the next beat the host
/// daemon also finds a rank that a debugger holds, and a stopped grandchild that has joined instead of the process that
/// was started (`sh -c ./solver`).
void HostDaemon::look_for_stopped() {
    const int before = stopped_.count();
    for (int rank = 0; rank < job_.ranks(); ++rank)
        stopped_.look(rank, ranks_[static_cast<std::size_t>(rank)], segment_->block(rank).process.load());
    if (stopped_.count() != before) link_->stopped(stopped_.count());
}

/// Whether the job is stopped as a whole: by Ctrl-Z, or because a rank wants to read from a terminal while the job is
/// in its background.
bool HostDaemon::job_is_stopped() const {
    const auto supervisor = platform::status_of(supervisor_.process);
    return paused_ || (supervisor && supervisor->state == platform::ProcessStatus::State::stopped);
}

void HostDaemon::beat() {
    look_for_stopped();
    if (verdict_ || job_is_stopped()) return;
    for (const StoppedRank& stopped : stopped_.beat()) {
        if (stopped.by_debugger || job_.settings.wait_for_stopped) link_->remark(wait_for(stopped, job_.share));
        else
            end_with(
                {exit_code::environment, end_of(stopped, job_.share, std::chrono::seconds(job_.settings.timeout_s))});
    }
}

void HostDaemon::on_stopped_count(int ranks) { segment_->header().stopped.store(static_cast<std::uint32_t>(ranks)); }

// -- the end --

void HostDaemon::end_by_user(const SignalNotice& notice) {
    if (ending_since_ && Clock::now() - *ending_since_ > one_request) at_once_ = true;
    if (verdict_) return;
    set_verdict({exit_code::signal_base + notice.signal, ""});
    set_deadline();
    if (!notice.has_reached_ranks) pass_on(notice.signal);
    pass_on(SIGCONT); // a stopped rank could not end
}

void HostDaemon::end_with(Verdict verdict) {
    if (verdict_) return;
    set_verdict(std::move(verdict));
    ask_to_end();
}

/// A rank of this host that has died already may be the cause of the end, so its death is reported first.
void HostDaemon::on_end() {
    reap();
    end_with({exit_code::failed, ""});
}

void HostDaemon::set_verdict(Verdict verdict) {
    verdict_ = std::move(verdict);
    link_->report_verdict(*verdict_);
}

void HostDaemon::ask_to_end() {
    if (std::exchange(asked_, true)) return;
    set_deadline();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        was_ending_[rank] = ranks_[rank] != 0 && platform::is_ending(ranks_[rank]);
    const auto everybody = descendants();
    send(everybody, SIGTERM);
    send(everybody, SIGCONT);
}

void HostDaemon::set_deadline() {
    if (deadline_) return;
    ending_since_ = Clock::now();
    deadline_ = *ending_since_ + grace;
}

void HostDaemon::pass_on(int signal) const {
    for (const pid_t process : ranks_)
        if (process != 0) kill(process, signal);
}

/// Waits until all output is written, unless the supervisor dies or the user does not want to wait for a reader that
/// has stopped reading.
void HostDaemon::finish_output() {
    at_once_ = false;
    for (link_->finish(); !link_->finished();) {
        events_.wait({});
        read_notices();
        if (at_once_) _exit(verdict_ ? verdict_->code : exit_code::failed);
    }
}

} // namespace kumiki::launch
