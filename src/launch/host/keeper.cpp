#include "launch/host/keeper.hpp"

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

#include "launch/system/descendants.hpp"
#include "launch/command/outcome.hpp"
#include "launch/command/outcome.hpp"
#include "launch/host/rank_process.hpp"

namespace kumiki::launch {
namespace {

using namespace std::chrono_literals;

/// Between the request to end and SIGKILL.
constexpr auto grace = 1s;

/// How long to wait for the front's answer: it does not come while the front is stopped.
constexpr auto answer_limit = 500ms;

} // namespace

Keeper::Keeper(const Job& job, Front front, std::unique_ptr<Link> link)
    : job_(job),
      front_(std::move(front)),
      link_(std::move(link)),
      ranks_(static_cast<std::size_t>(job.ranks())),
      stopped_(job.share) {}

int Keeper::run() {
    link_->attach(events_, *this);
    std::vector<pid_t> survivors;
    if (auto prepared = prepare(); prepared) survivors = run_ranks();
    else judge({exit_code::environment, on_host(job_.share, prepared.error().message)});
    // From here on there is nothing to end any more, and a reader that has stopped reading must not keep the keeper
    // alive.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != front_.process) return exit_code::failed;
    if (!survivors.empty())
        link_->remark(fmt::format("these processes of the job cannot be ended: {}", fmt::join(survivors, ", ")));
    return link_->close(verdict_);
}

/// Returns processes that would not end.
std::vector<pid_t> Keeper::run_ranks() {
    start_ranks();
    ticker_.start(events_, std::chrono::nanoseconds(std::chrono::seconds(job_.settings.timeout_s)) / beats_per_timeout,
                  [this] { beat(); });
    while (children_left_ && !at_once_) watch();
    ticker_.stop();
    auto survivors = end_descendants();
    finish_output();
    return survivors;
}

Result<> Keeper::prepare() {
    // Ranks find what they inherit above the numbers that programs use. What they print and tell each other needs two
    // pipes and a socket for each, where it goes through the keeper.
    constexpr rlim_t few = 30, for_each_rank = 3;
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
    child_signals_ = Descriptor(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    exec_failures_ = Pipe::create();
    shared_ = Descriptor(fcntl(segment_->descriptor(), F_DUPFD, lowest_shared_descriptor));
    if (!child_signals_ || !exec_failures_ || !shared_)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot open what starting ranks needs: {} (ulimit -n 1024)", std::strerror(errno)));
    fcntl(exec_failures_.read.get(), F_SETFL, O_NONBLOCK);
    fcntl(front_.words.get(), F_SETFL, O_NONBLOCK);
    // These only wake the keeper, which then looks at all of them, in an order that matters.
    for (const int descriptor : {front_.words.get(), child_signals_.get(), exec_failures_.read.get()})
        events_.add(descriptor, EPOLLIN, nullptr);
    return {};
}

void Keeper::start_ranks() {
    Environment environment(environ);
    tell_job(environment, job_, shared_.get());
    for (int rank = 0; rank < job_.ranks() && start_rank(rank, environment); ++rank) {}
    exec_failures_.write.reset();
    link_->started();
}

bool Keeper::start_rank(int rank, const Environment& environment) {
    const pid_t keeper = getpid();
    const auto streams = link_->open(rank);
    const pid_t process = streams ? fork() : -1;
    if (process == 0)
        become_rank({.job = job_,
                     .rank = rank,
                     .environment = environment,
                     .keeper = keeper,
                     .group = front_.group,
                     .origin = front_.origin,
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
    ++living_;
    return true;
}

/// Waits until something happens, and does what has to be done about it.
void Keeper::watch() {
    events_.wait(deadline_);
    signalfd_siginfo ignored;
    bool children_changed = false;
    while (read(child_signals_.get(), &ignored, sizeof ignored) > 0) children_changed = true;
    hear_front();
    hear_exec_failures();
    reap();
    if (children_changed) look_for_stopped();
    // What ranks have left behind (background processes of a script) belongs to the job and ends with it.
    if (living_ == 0 && children_left_) ask_to_end();
    if (deadline_ && Clock::now() >= *deadline_) at_once_ = true;
}

void Keeper::hear_front() {
    Word word;
    ssize_t bytes = 0;
    while ((bytes = read(front_.words.get(), &word, sizeof word)) == static_cast<ssize_t>(sizeof word)) {
        if (word.signal == question) answered_ = true;
        else hear(word);
    }
    if (bytes == 0) link_is_lost();
}

void Keeper::hear(const Word& word) {
    if (word.signal == SIGTSTP || word.signal == SIGCONT) paused_ = word.signal == SIGTSTP;
    if (asks_to_end(word.signal)) end_by_user(word);
    else if (!word.has_reached_ranks) pass_on(word.signal);
}

void Keeper::link_is_lost() {
    end_descendants();
    _exit(exit_code::failed); // nobody is there to be told
}

/// A terminal's Ctrl-C reaches the ranks and the front at the same time. Before the death of a rank is called a
/// failure, the front has to say whether it was the user's wish; when the kernel shows us a dead rank, the signal is
/// already pending at the front.
void Keeper::ask_front() {
    answered_ = false;
    if (getppid() == front_.process) kill(front_.process, question);
    pollfd words{front_.words.get(), POLLIN, 0};
    const auto limit = Clock::now() + answer_limit;
    while (!answered_ && Clock::now() < limit) {
        poll(&words, 1, milliseconds_until(limit));
        hear_front();
    }
}

void Keeper::hear_exec_failures() {
    ExecFailure failure;
    ssize_t bytes = 0;
    while (exec_failures_.read &&
           (bytes = read(exec_failures_.read.get(), &failure, sizeof failure)) == static_cast<ssize_t>(sizeof failure))
        end_with(
            {exit_code::environment, on_host(job_.share, cannot_run(job_.options.program.front(), failure.error))});
    if (bytes != 0 || !exec_failures_.read) return;
    events_.remove(exec_failures_.read.get());
    exec_failures_.read.reset(); // every rank runs its program
}

void Keeper::reap() {
    int status = 0;
    pid_t process = 0;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0)
        if (const auto found = std::ranges::find(ranks_, process); found != ranks_.end())
            rank_ended(static_cast<int>(found - ranks_.begin()), status);
    children_left_ = process == 0;
}

void Keeper::rank_ended(int rank, int status) {
    const auto state = segment_->block(rank).state.load();
    const RankEnd end{job_.share.first + rank, std::exchange(ranks_[static_cast<std::size_t>(rank)], 0), status,
                      state == fabric::shm::RankState::joined};
    --living_;
    if (verdict_ || !is_failure(end)) return;
    hear_exec_failures();
    if (verdict_) return;
    ask_front();
    end_with({exit_code_of(end), sentence(end, job_.share)});
}

// -- ranks that are stopped --

/// The kernel tells at once (SIGCHLD) when a child is stopped or continued by a signal. What a debugger holds, and a
/// grandchild that has joined in the place of its rank (`sh -c ./solver`), are found at the next beat.
void Keeper::look_for_stopped() {
    const int before = stopped_.count();
    for (int rank = 0; rank < job_.ranks(); ++rank)
        stopped_.look(rank, ranks_[static_cast<std::size_t>(rank)], segment_->block(rank).process.load());
    if (stopped_.count() != before) link_->stopped(stopped_.count());
}

/// By the user: Ctrl-Z, or a rank that wants to read from a terminal in whose background the job runs.
bool Keeper::job_is_stopped() const {
    const auto front = platform::status_of(front_.process);
    return paused_ || (front && front->state == platform::ProcessStatus::State::stopped);
}

void Keeper::beat() {
    look_for_stopped();
    if (verdict_ || job_is_stopped()) return;
    for (const StoppedRank& stopped : stopped_.beat()) {
        if (stopped.by_debugger || job_.settings.wait_for_stopped) link_->remark(wait_for(stopped, job_.share));
        else
            end_with(
                {exit_code::environment, end_of(stopped, job_.share, std::chrono::seconds(job_.settings.timeout_s))});
    }
}

void Keeper::hear_of_stopped(int ranks) { segment_->header().stopped.store(static_cast<std::uint32_t>(ranks)); }

// -- the end --

void Keeper::end_by_user(const Word& word) {
    if (ending_since_ && Clock::now() - *ending_since_ > one_request) at_once_ = true;
    if (verdict_) return;
    judge({exit_code::signal_base + word.signal, ""});
    set_deadline();
    if (!word.has_reached_ranks) pass_on(word.signal);
    pass_on(SIGCONT); // who is stopped could not end
}

void Keeper::end_with(Verdict verdict) {
    if (verdict_) return;
    judge(std::move(verdict));
    ask_to_end();
}

void Keeper::judge(Verdict verdict) {
    verdict_ = std::move(verdict);
    link_->judged(*verdict_);
}

void Keeper::ask_to_end() {
    if (std::exchange(asked_, true)) return;
    set_deadline();
    const auto everybody = descendants();
    send(everybody, SIGTERM);
    send(everybody, SIGCONT);
}

void Keeper::set_deadline() {
    if (deadline_) return;
    ending_since_ = Clock::now();
    deadline_ = *ending_since_ + grace;
}

void Keeper::pass_on(int signal) const {
    for (const pid_t process : ranks_)
        if (process != 0) kill(process, signal);
}

/// Waits until all output is written, unless the front dies or the user does not want to wait for a reader that has
/// stopped reading.
void Keeper::finish_output() {
    at_once_ = false;
    for (link_->finish(); !link_->finished();) {
        events_.wait({});
        hear_front();
        if (at_once_) _exit(verdict_ ? verdict_->code : exit_code::failed);
    }
}

} // namespace kumiki::launch
