#include "launch/controller/controller.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launch/command/outcome.hpp"
#include "launch/command/placement.hpp"

namespace kumiki::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// How long a remote shell may take to end after its host daemon has reported that it is done, or has gone without a
/// report.
constexpr auto shell_grace = 1000ms, lost_shell_grace = 500ms;

/// How long the controller goes on after the user's second request to end.
constexpr auto patience_of_users = 1s;

/// The variables of this process that ranks on all hosts also get; the variables that a launcher sets for its own ranks
/// are not among them.
Variables variables_for_all(const std::vector<std::string>& exports) {
    const auto table = settings_table();
    const auto is_internal = [&](std::string_view name) {
        const auto found = std::ranges::find(table, name, &Setting::name);
        return found != table.end() && found->internal;
    };
    Variables variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto end = std::min(text.find('='), text.size());
        const auto name = text.substr(0, end);
        const bool wanted = name == "PATH" || name == "LD_LIBRARY_PATH" || name.starts_with("OMP_") ||
                            name.starts_with("KUMIKI_") || std::ranges::find(exports, name) != exports.end();
        if (wanted && !is_internal(name)) variables.emplace_back(name, text.substr(std::min(end + 1, text.size())));
    }
    return variables;
}

} // namespace

Controller::Controller(HostsJob job, const std::vector<Share>& shares)
    : job_(std::move(job)), ready_(shares.size()), stopped_(shares.size()), printer_(shares.front().size, job_.label) {
    for (const Share& share : shares)
        hosts_.push_back(std::make_unique<RemoteHost>(share, job_.remote_shell, job_.program, job_.timeout));
}

int Controller::run() {
    signal(SIGCHLD, SIG_DFL); // a parent that ignores it would keep us from learning how remote shells end
    sigset_t awaited = signals_to_pass();
    sigaddset(&awaited, SIGCHLD);
    const BlockedSignals signals(awaited);
    const rlimit limit_before = raise_limit_of_open_files();
    constexpr rlim_t few = 30, for_each_host = 6; // both ends of a remote shell's three pipes while it is started
    const auto enough =
        check_limit_of_open_files(few + for_each_host * hosts_.size(), fmt::format("{} host(s)", hosts_.size()));
    if (!enough) {
        say(enough.error().message);
        return exit_code::environment;
    }
    signals_ = platform::Descriptor(signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_ || !printer_.is_open()) {
        say(fmt::format("cannot start the job: {} (ulimit -n)", std::strerror(errno)));
        return exit_code::environment;
    }
    events_.add(signals_.get(), EPOLLIN, [this] { take_signals(); });
    printer_.attach(
        events_,
        [this](std::size_t host, int stream, std::size_t bytes) { tell(*hosts_[host], Written{stream, bytes}); },
        [this](int stream, const std::string& failure) {
            if (!failure.empty() && !verdict_) end_with({exit_code::environment, failure});
            tell_all(Closed{stream});
        });
    start_by_ = Clock::now() + start_limit;
    start_hosts({signals.before(), limit_before});
    signal(SIGPIPE, SIG_IGN); // a failed write shows that a reader is gone
    while (!all_are(State::over)) watch();
    return finish();
}

void Controller::start_hosts(const InheritedState& inherited) {
    for (std::size_t i = 0; i < hosts_.size() && !verdict_; ++i) {
        RemoteHost& host = *hosts_[i];
        const auto started = host.start(
            events_, inherited, [this, i](const Frame& frame) { handle(i, frame); },
            [this, &host] { host_lost(host); });
        if (!started)
            end_with({exit_code::environment, fmt::format("host {}: {}", host.share().host, started.error().message)});
    }
}

/// Waits until something happens or is due, and handles it.
void Controller::watch() {
    auto due = give_up_at_;
    if (start_by_ && (!due || *start_by_ < *due)) due = start_by_;
    events_.wait(due);
    const auto now = Clock::now();
    if (give_up_at_ && now >= *give_up_at_)
        for (auto& host : hosts_) host->end(0ms);
    if (start_by_ && now >= *start_by_)
        for (auto& host : hosts_)
            if (host->state() != State::over && host->state() != State::ready) give_up(*host, start_limit);
}

bool Controller::all_are(State state) const {
    return std::ranges::all_of(hosts_, [&](const auto& host) { return host->state() == state; });
}

void Controller::handle(std::size_t index, const Frame& frame) {
    RemoteHost& host = *hosts_[index];
    host.heard();
    if (auto bytes = read_message<Bytes>(frame)) print(index, std::move(*bytes));
    else if (const auto hello = read_message<Hello>(frame)) give_order(host, hello->version);
    else if (auto ready = read_message<Ready>(frame)) {
        ready_[index] = std::move(*ready);
        host.enter(State::ready);
        if (all_are(State::ready)) start_ranks();
    } else if (const auto written = read_message<Written>(frame)) input_.written(written->bytes);
    else if (read_message<Closed>(frame)) input_.stop();
    else if (const auto mark = read_message<Mark>(frame)) take_mark(host, *mark);
    else if (const auto card = read_message<Card>(frame)) tell_all(*card);
    else if (auto reached = read_message<VerdictReached>(frame)) take_verdict(host, std::move(reached->verdict));
    else if (const auto stopped = read_message<Stopped>(frame)) count_stopped(index, stopped->ranks);
    else if (const auto remark = read_message<Remark>(frame)) printer_.remark(remark->text);
    else if (read_message<Done>(frame)) host.leave();
}

void Controller::give_order(RemoteHost& host, const std::string& version) {
    if (version != KUMIKI_VERSION)
        return end_with(
            {exit_code::environment,
             fmt::format("host {} has version {} of Kumiki, and this host {}; install the same on all hosts",
                         host.share().host, version, KUMIKI_VERSION)});
    host.enter(State::greeted);
    host.channel().send(
        Order{host.share(), job_.command, job_.folder, job_.environment, job_.settings, job_.verbose, job_.openmp});
}

/// Called when all hosts are ready. Regions have the same addresses everywhere, so the smallest arena decides; hosts
/// that are in fact one machine share its cores.
void Controller::start_ranks() {
    start_by_.reset();
    Start start;
    start.arena_bytes = std::ranges::min(ready_, {}, &Ready::arena_bytes).arena_bytes;
    for (std::size_t i = 0; i < hosts_.size(); ++i)
        for (const RankRequest& rank : ranks_on_cores_of(i))
            if (hosts_[i]->share().has(rank.rank)) start.threads.push_back(rank.threads);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        RemoteHost& host = *hosts_[i];
        start.on_cores = ranks_on_cores_of(i);
        start.ranks_before = static_cast<int>(
            std::ranges::find(start.on_cores, host.share().first, &RankRequest::rank) - start.on_cores.begin());
        start.other_hosts.clear();
        for (std::size_t other = 0; other < hosts_.size(); ++other)
            if (other != i) start.other_hosts.push_back(ready_[other].addresses);
        host.enter(State::running);
        host.channel().send(start);
        host.start_heartbeat(events_, [this, &host] { give_up(host, job_.timeout); });
    }
    input_.start(events_, [this](std::string text) { tell(*hosts_.front(), Bytes{0, STDIN_FILENO, std::move(text)}); });
}

/// The ranks of this host, and of all others that are the same machine with the same cores. The number of threads of
/// each of them is decided here, where all of them are known.
std::vector<RankRequest> Controller::ranks_on_cores_of(std::size_t host) const {
    std::vector<RankRequest> ranks;
    int budget = ready_[host].budget;
    for (std::size_t other = 0; other < hosts_.size(); ++other) {
        if (other != host && (ready_[host].cores.empty() || ready_[host].cores != ready_[other].cores)) continue;
        const auto& more = hosts_[other]->share().requests;
        ranks.insert(ranks.end(), more.begin(), more.end());
        budget = std::min(budget, ready_[other].budget);
    }
    decide_threads(ranks, budget);
    return ranks;
}

/// The controller takes a rank's output from its own host only.
void Controller::print(std::size_t host, Bytes bytes) {
    if (hosts_[host]->share().has(bytes.rank)) printer_.print(host, std::move(bytes));
}

/// The printer prints in the order of its calls.
void Controller::take_mark(RemoteHost& host, const Mark& mark) {
    if (!host.share().has(mark.rank)) return;
    printer_.show_parts(mark.rank);
    tell(host, mark);
}

/// All ranks must know this: a stopped rank is silent, but its host must not be given up for that.
void Controller::count_stopped(std::size_t host, int ranks) {
    stopped_[host] = ranks;
    tell_all(Stopped{std::accumulate(stopped_.begin(), stopped_.end(), 0)});
}

/// A host that was told to end has no reason of its own any more, so one that still arrives had been reached before.
void Controller::take_verdict(RemoteHost& host, Verdict verdict) {
    if (verdict_ && !may_be_caused_by(*verdict_, verdict)) return;
    if (verdict.sentence.empty() && verdict.code != exit_code::ok)
        verdict.sentence =
            fmt::format("host {}: the launcher there was asked to end by signal {}; all ranks were ended",
                        host.share().host, verdict.code - exit_code::signal_base);
    end_with(std::move(verdict));
}

/// The channel has ended before the host daemon has reported that it is done.
void Controller::host_lost(RemoteHost& host) {
    host.end(verdict_ ? 0ms : lost_shell_grace);
    if (!verdict_) end_with({exit_code::environment, host.describe_loss()});
}

void Controller::give_up(RemoteHost& host, std::chrono::seconds silent_for) {
    const auto sentence = host.describe_silence(silent_for);
    host.end(0ms);
    if (!verdict_) end_with({exit_code::environment, sentence});
}

void Controller::take_signals() {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) reap_remote_shells();
        else take_signal(signal);
    }
}

void Controller::take_signal(int signal) {
    tell_all(ForwardedSignal{signal});
    if (signal == SIGTSTP) stop_this_process();
    if (signal == SIGCONT) input_.look_again();
    if (!asks_to_end(signal)) return;
    if (ending_since_ && Clock::now() - *ending_since_ > one_request) give_up_at_ = Clock::now() + patience_of_users;
    if (!verdict_) end_with({exit_code::signal_base + signal, ""});
}

/// If a remote shell has ended, its host is lost, even if another process keeps the channel open.
void Controller::reap_remote_shells() {
    for (auto& host : hosts_) {
        if (host->state() == State::over || !host->shell_has_ended()) continue;
        host->channel().receive(); // its host daemon may have reported that it is done
        if (host->state() != State::over) host_lost(*host);
    }
}

/// Ends the job on all hosts: tells the hosts that have ranks, and lets the others go. A request by the user has
/// already been passed on as a signal.
void Controller::end_with(Verdict verdict) {
    const bool by_user = verdict.sentence.empty() && verdict.code != exit_code::ok;
    verdict_ = std::move(verdict);
    ending_since_ = Clock::now();
    if (!by_user) tell_all(End{});
    for (auto& host : hosts_)
        if (host->state() != State::running) host->end(0ms);
}

template <class Message>
void Controller::tell(RemoteHost& host, const Message& message) {
    if (host.state() == State::running) host.channel().send(message);
}

template <class Message>
void Controller::tell_all(const Message& message) {
    for (auto& host : hosts_) tell(*host, message);
}

void Controller::end_remote_shells() {
    const auto limit = Clock::now() + shell_grace;
    for (auto& host : hosts_) {
        host->end(std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now())));
        for (const auto& line : host->final_remarks(job_.verbose)) printer_.remark(line);
    }
}

/// Waits until all output is written, unless the user does not want to wait for a reader that has stopped reading.
void Controller::finish_output() {
    printer_.finish();
    while (!printer_.finished()) {
        watch();
        if (give_up_at_ && Clock::now() >= *give_up_at_) _exit(verdict_ ? verdict_->code : exit_code::failed);
    }
}

int Controller::finish() {
    input_.stop();
    start_by_.reset();
    end_remote_shells();
    finish_output();
    if (verdict_ && !verdict_->sentence.empty()) say(verdict_->sentence);
    return verdict_ ? verdict_->code : exit_code::ok;
}

int run_on_hosts(const Options& options, const Settings& settings, const std::vector<Share>& shares) {
    std::error_code ignored, error;
    const auto folder = fs::current_path(error);
    if (error) {
        say(fmt::format("cannot tell the current folder: {}; start the job in a folder that all hosts have",
                        error.message()));
        return exit_code::environment;
    }
    return Controller({.program = fs::read_symlink("/proc/self/exe", ignored),
                       .folder = folder,
                       .remote_shell = options.remote_shell,
                       .timeout = std::chrono::seconds(settings.timeout_s),
                       .label = options.label,
                       .verbose = options.verbose,
                       .openmp = options.openmp,
                       .command = options.program,
                       .settings = options.settings,
                       .environment = variables_for_all(options.exports)},
                      shares)
        .run();
}

} // namespace kumiki::launch
