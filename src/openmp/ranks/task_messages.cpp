#include "openmp/ranks/task_messages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kumiki/types.h"
#include "openmp/ranks/process/signals.hpp"
#include "openmp/task.hpp"

namespace kumiki::openmp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_given = 16; ///< tasks at once

/// For tasks that it gives at a time, a rank makes its memory visible twice. (It learns together of short ones that
/// have ended.) So they should have been some times as much work; and more than the other rank has waited for memory
/// and locks, because what that one fetches and changes, this one has to fetch again.
constexpr std::chrono::nanoseconds worth_giving = 200us;
/// Otherwise the rank asks again a while later, and each time later; and much later if it has waited for long.
constexpr std::chrono::nanoseconds first_pause = 1ms, longest_pause = 100ms, longest_pause_of_lost = 10s;
/// How long a rank may not know that a short task of its own has ended.
constexpr std::chrono::nanoseconds latest_tell = 200us;
/// A thread that waits so long recalls tasks; then after twice as long each time. As it waits for a time only, it may
/// miss a ring (wait::wait_at_most), and looks again after the longest of these times.
constexpr std::chrono::nanoseconds first_recall = 500us, longest_recall = 30ms;

template <class Part>
void append(std::vector<std::byte>& message, const Part& part) {
    static_assert(std::is_trivially_copyable_v<Part>);
    const auto bytes = std::as_bytes(std::span(&part, 1));
    message.insert(message.end(), bytes.begin(), bytes.end());
}

template <class Part>
Part take_part(std::span<const std::byte>& payload) {
    Part part;
    std::memcpy(&part, payload.data(), sizeof part);
    payload = payload.subspan(sizeof part);
    return part;
}

} // namespace

TaskMessages::TaskMessages(fabric::Fabric& fabric, bool is_eager, WaitTimes& waits, Surroundings surroundings)
    : fabric_(fabric),
      is_eager_(is_eager),
      waits_(waits),
      surroundings_(std::move(surroundings)),
      others_(static_cast<std::size_t>(fabric.size())) {}

Result<> TaskMessages::begin(collective::Collectives& collectives) {
    auto handler =
        collectives.add_handler([this](int source, std::span<const std::byte> payload) { take(source, payload); });
    if (!handler) return tl::unexpected(handler.error());
    handler_ = *handler;
    return {};
}

/// In a handler, which must not wait.
void TaskMessages::take(int source, std::span<const std::byte> payload) {
    const auto head = take_part<Head>(payload);
    switch (head.kind) {
    case Kind::ask: take_ask(source, head.interval); break;
    case Kind::quiet:
        others_[static_cast<std::size_t>(source)].quiet.store(head.interval, std::memory_order_release);
        break;
    case Kind::task: take_task(source, head.task, payload); break;
    case Kind::returned: take_returned({head.task, head.how}); break;
    case Kind::recall: return take_recall(source);
    }
    ring();
}

void TaskMessages::take_ask(int source, std::uint64_t interval) {
    if (interval == this->interval() && pass_on(source)) return;
    others_[static_cast<std::size_t>(source)].asks.store(interval, std::memory_order_release);
    last_ask_.store(interval, std::memory_order_release);
}

/// A task of this rank may come back as one that is given.
void TaskMessages::take_task(int source, Task* task, std::span<const std::byte> payload) {
    const auto described = take_part<Description>(payload);
    if (described.origin == fabric_.rank()) take_returned({task, ReturnedTask::How::not_executed});
    const std::lock_guard lock(mutex_);
    if (described.origin != fabric_.rank()) {
        waiting_.push_back({.number = ++last_given_,
                            .task = {.origin = {described.origin, task},
                                     .function = described.function,
                                     .data = described.data,
                                     .alignment = described.alignment,
                                     .controls = described.controls,
                                     .final = described.final,
                                     .cancellable = described.cancellable,
                                     .bytes = {payload.begin(), payload.end()}}});
        waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
    }
    if (described.is_last) {
        others_[static_cast<std::size_t>(source)].asked = 0; // it may be asked again
        asked_all_.store(0, std::memory_order_relaxed);
        got_tasks_ = true;
    }
    has_news_.store(true, std::memory_order_release);
}

void TaskMessages::take_returned(const ReturnedTask& returned) {
    if (returned.how != ReturnedTask::How::rest_ended) away_.fetch_sub(1, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    returned_.push_back(returned);
    has_news_.store(true, std::memory_order_release);
}

void TaskMessages::take_recall(int source) {
    std::vector<TaskOrigin> recalled;
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(waiting_, [&](const Waiting& waiting) {
            const bool is_its = waiting.task.origin.rank == source;
            if (is_its) recalled.push_back(waiting.task.origin);
            return is_its;
        });
        waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
    }
    for (const TaskOrigin& origin : recalled) tell(origin, ReturnedTask::How::not_executed);
}

std::vector<ReturnedTask> TaskMessages::take_news() {
    const SignalsLater later;
    std::vector<ReturnedTask> returned;
    std::uint64_t last = 0;
    bool is_visible = false;
    {
        const std::lock_guard lock(mutex_);
        has_news_.store(false, std::memory_order_relaxed);
        returned = std::exchange(returned_, {});
        last = last_given_;
        is_visible = last == last_visible_;
    }
    if (returned.empty() && is_visible) return {};
    surroundings_.flush();
    const std::lock_guard lock(mutex_);
    last_visible_ = std::max(last_visible_, last);
    return returned;
}

std::optional<GivenTask> TaskMessages::take_given(const std::function<bool()>& allowed) {
    if (!has_given()) return {};
    const SignalsLater later;
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || waiting_.front().number > last_visible_ || !allowed()) return {};
    GivenTask task = std::move(waiting_.front().task);
    waiting_.pop_front();
    waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
    return task;
}

void TaskMessages::send(int rank, std::span<const std::byte> message) const {
    fabric_.messenger().send(rank, handler_, message);
}

/// Data that other processes may have a copy of travel with the message, if they are short enough.
GivenTask TaskMessages::describe(Task& task) const {
    GivenTask given{.origin = {fabric_.rank(), &task},
                    .function = task.function,
                    .data = task.data,
                    .alignment = task.alignment,
                    .controls = task.controls,
                    .final = task.final,
                    .cancellable = task.cancellable,
                    .bytes = {}};
    if (task.bytes != 0 && sizeof(Head) + sizeof(Description) + task.bytes <= KUMIKI_ACTIVE_MESSAGE_MAX) {
        const auto* const data = static_cast<const std::byte*>(task.data);
        given.bytes.assign(data, data + task.bytes);
        given.data = nullptr;
    }
    return given;
}

void TaskMessages::send(int rank, const GivenTask& task, bool is_last) const {
    std::vector<std::byte> message;
    append(message, Head{.kind = Kind::task, .task = task.origin.task});
    append(message, Description{.origin = task.origin.rank,
                                .function = task.function,
                                .data = task.data,
                                .alignment = static_cast<std::uint32_t>(task.alignment),
                                .final = task.final,
                                .cancellable = task.cancellable,
                                .is_last = is_last,
                                .controls = task.controls});
    message.insert(message.end(), task.bytes.begin(), task.bytes.end());
    send(rank, message);
}

void TaskMessages::tell_all_quiet(std::uint64_t interval) const {
    for (int rank = 0; rank < fabric_.size(); ++rank)
        if (rank != fabric_.rank()) send(rank, Head{.kind = Kind::quiet, .interval = interval});
}

void TaskMessages::tell(const TaskOrigin& origin, ReturnedTask::How how) const {
    send(origin.rank, Head{.kind = Kind::returned, .how = how, .task = origin.task});
}

/// A rank that asks, and from now on does so no longer; -1: there is none.
int TaskMessages::next_asker() {
    const std::uint64_t now = interval();
    // The word comes first: an ask that comes later sets it again.
    std::uint64_t last = now;
    last_ask_.compare_exchange_strong(last, 0);
    int found = -1;
    for (int i = 1; i < fabric_.size(); ++i) {
        const int rank = (fabric_.rank() + i) % fabric_.size();
        std::uint64_t asks = now;
        auto& word = others_[static_cast<std::size_t>(rank)].asks;
        if (found >= 0) {
            if (word.load() == now) last_ask_.store(now);
        } else if (word.compare_exchange_strong(asks, 0)) {
            found = rank;
        }
    }
    return found;
}

/// Gives half of the tasks of other ranks that wait here, those that came last. The last one stays: ranks without work
/// could pass it on for ever. Returns false if there are none to give.
bool TaskMessages::pass_on(int rank) {
    std::vector<GivenTask> tasks;
    {
        const std::lock_guard lock(mutex_);
        const std::size_t stays = waiting_.size() - waiting_.size() / 2;
        for (std::size_t i = stays; i < waiting_.size(); ++i) tasks.push_back(std::move(waiting_[i].task));
        waiting_.resize(stays);
        waiting_count_.store(stays, std::memory_order_relaxed);
    }
    for (const GivenTask& task : tasks) send(rank, task, &task == &tasks.back());
    return !tasks.empty();
}

bool TaskMessages::give(const std::function<std::size_t(std::span<Task*>)>& take) {
    const SignalsLater later;
    const int rank = next_asker();
    if (rank < 0 || pass_on(rank)) return true;
    std::array<Task*, most_given> tasks;
    const std::size_t count = take(tasks);
    if (count == 0) {
        const std::uint64_t now = interval();
        others_[static_cast<std::size_t>(rank)].asks.store(now);
        last_ask_.store(now);
        return false;
    }
    away_.fetch_add(static_cast<int>(count), std::memory_order_relaxed);
    surroundings_.flush();
    for (std::size_t i = 0; i < count; ++i) send(rank, describe(*tasks[i]), i + 1 == count);
    ring(); // for the threads that wait without a limit
    return true;
}

void TaskMessages::end(const TaskOrigin& origin, ReturnedTask::How how, std::chrono::nanoseconds took) {
    const SignalsLater later;
    {
        const std::lock_guard lock(mutex_);
        ended_.push_back({origin, how});
        worked_ += took;
        has_ended_.store(true, std::memory_order_release);
    }
    const auto now = Clock::now().time_since_epoch();
    if (took >= latest_tell || now - Clock::duration(last_told_.load(std::memory_order_relaxed)) >= latest_tell)
        tell_ended();
}

void TaskMessages::tell_ended() {
    if (!has_ended_.load(std::memory_order_acquire)) return;
    const SignalsLater later;
    std::vector<Ended> ended;
    {
        const std::lock_guard lock(mutex_);
        has_ended_.store(false, std::memory_order_relaxed);
        ended = std::exchange(ended_, {});
    }
    if (ended.empty()) return;
    surroundings_.flush();
    last_told_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    for (const auto& [origin, how] : ended) tell(origin, how);
}

/// Sets when this rank asks next, by what the tasks were that it has got since it asked last.
void TaskMessages::judge_last_tasks() {
    if (!std::exchange(got_tasks_, false) || is_eager_) return;
    const auto with_others = surroundings_.time_with_others();
    const auto lost = with_others - with_others_before_, useful = worked_ - lost;
    if (useful >= std::max(worth_giving, lost)) pause_ = 0ns;
    else
        pause_ =
            std::max(std::clamp(2 * pause_, first_pause, longest_pause), std::min(10 * lost, longest_pause_of_lost));
    next_ask_.store((Clock::now() + pause_).time_since_epoch().count(), std::memory_order_relaxed);
    worked_ = {};
    with_others_before_ = with_others;
}

void TaskMessages::ask() {
    const std::uint64_t now = interval();
    if (asked_all_.load(std::memory_order_relaxed) == now) return;
    const SignalsLater later;
    std::vector<int> ranks;
    {
        const std::lock_guard lock(mutex_);
        judge_last_tasks();
        if (Clock::now().time_since_epoch().count() < next_ask_.load(std::memory_order_relaxed)) return;
        for (int rank = 0; rank < fabric_.size(); ++rank)
            if (rank != fabric_.rank() && std::exchange(others_[static_cast<std::size_t>(rank)].asked, now) != now)
                ranks.push_back(rank);
        asked_all_.store(now, std::memory_order_relaxed);
    }
    for (const int rank : ranks) send(rank, Head{.kind = Kind::ask, .interval = now});
}

bool TaskMessages::all_are_quiet(std::uint64_t interval) const {
    for (int rank = 0; rank < fabric_.size(); ++rank)
        if (rank != fabric_.rank() &&
            others_[static_cast<std::size_t>(rank)].quiet.load(std::memory_order_acquire) < interval)
            return false;
    return true;
}

bool TaskMessages::tell_quiet(std::uint64_t interval) {
    const SignalsLater later;
    std::uint64_t told = told_quiet_.load(std::memory_order_relaxed);
    while (told < interval)
        if (told_quiet_.compare_exchange_weak(told, interval)) {
            tell_all_quiet(interval);
            break;
        }
    return all_are_quiet(interval);
}

bool TaskMessages::waits_for_others() const {
    const std::uint64_t now = interval();
    return told_quiet_.load(std::memory_order_relaxed) >= now && !all_are_quiet(now);
}

void TaskMessages::wait(const std::function<bool()>& comes) {
    const SignalsLater later;
    const WaitTimes::Scope waiting(waits_, WaitTimes::tasks);
    const Clock::time_point ask{Clock::duration(next_ask_.load(std::memory_order_relaxed))};
    // A thread that does not wait may have ended a task, and leave it to this one to tell so.
    const auto ready = [&] { return comes() || has_ended_.load(std::memory_order_acquire); };
    const auto has_away = [this] { return away_.load(std::memory_order_relaxed) != 0; };
    const bool asks = Clock::now() < ask;
    for (auto pause = first_recall;; pause = std::min(2 * pause, longest_recall)) {
        if (!asks && !has_away()) {
            bool is_ready = false; // once only: it may have taken a task
            fabric_.progress().wait([&] { return (is_ready = ready()) || has_away(); });
            if (is_ready) return;
        }
        const auto left = ask - Clock::now();
        if (fabric_.progress().wait_at_most(asks ? std::min<Clock::duration>(left, pause) : pause, ready)) return;
        if (asks && left <= pause) return;
        if (has_away()) recall();
    }
}

void TaskMessages::recall() const {
    for (int rank = 0; rank < fabric_.size(); ++rank)
        if (rank != fabric_.rank()) send(rank, Head{.kind = Kind::recall});
}

} // namespace kumiki::openmp
