#include "openmp/team.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "openmp/affinity_text.hpp"
#include "openmp/dependences.hpp"
#include "platform/stack_thread.hpp"
#include "platform/thread.hpp"
#include "settings/settings.hpp"

namespace kumiki::openmp {
namespace {

// The fork word: the number of the fork, and how many threads take part (0: the workers end).
constexpr int size_bits = 16;
std::uint64_t fork_word(std::uint64_t before, int threads) {
    return ((before >> size_bits) + 1) << size_bits | static_cast<std::uint64_t>(threads);
}
int size_in(std::uint64_t word) { return static_cast<int>(word & ((1U << size_bits) - 1)); }

/// Writes only what changes: a line that nobody writes stays in the caches of all who read it.
template <class Value>
void set(Value& field, const Value& value) {
    if (!(field == value)) field = value;
}
template <class Value>
void set(std::atomic<Value>& field, Value value) {
    if (field.load(std::memory_order_relaxed) != value) field.store(value, std::memory_order_relaxed);
}

/// The value for a nesting level of a list such as OMP_NUM_THREADS=4,2; the last one holds for all deeper levels.
template <class Value>
Value of_level(const std::vector<Value>& list, int level, Value otherwise) {
    if (list.size() < 2) return otherwise;
    return list[std::min(static_cast<std::size_t>(level), list.size() - 1)];
}

} // namespace

Team::Team(const Controls& controls, const Member* waiting)
    : outer_(nullptr), waiting_(waiting), patience_(&process().patience()) {
    owned_.push_back(std::make_unique<Member>(*this, 0));
    first_.store(owned_.back().get(), std::memory_order_relaxed);
    member(0).implicit.controls = controls;
    member(0).partition = {0, static_cast<int>(process().environment().places.size())};
}

Team::Team(Member& master) : Team(master.task->controls) {
    outer_ = &master;
    initial_ = master.team.initial_;
}

Team::~Team() {
    fork_.store(fork_word(fork_.load(std::memory_order_relaxed), 0), std::memory_order_release);
    ring();
    for (const auto& worker : workers_) pthread_join(worker->thread, nullptr);
}

int Team::take_threads(int wanted, int limit) {
    int busy = busy_threads_.load(std::memory_order_relaxed);
    for (;;) {
        const int got = std::clamp(limit - busy, 0, wanted);
        if (busy_threads_.compare_exchange_weak(busy, busy + got, std::memory_order_relaxed)) return got;
    }
}

bool Team::all_arrived() const {
    // acquire: with the last one's addition, everything that all did before theirs is seen.
    return arrived_.load(std::memory_order_acquire) == static_cast<std::uint32_t>(here());
}

bool Team::tasks_left() const {
    std::uint64_t finished = finished_elsewhere_.load(std::memory_order_acquire), created = 0;
    for (int place = 0; place < here(); ++place) finished += member(place).finished.load(std::memory_order_acquire);
    for (int place = 0; place < here(); ++place) created += member(place).created.load(std::memory_order_acquire);
    return finished != created;
}

bool Team::may_be_quiet() const {
    const TaskExchange* const exchange = this->exchange();
    return !tasks_left() && (exchange == nullptr || !exchange->waits_for_others());
}

template <class Arrived>
bool Team::is_quiet(Arrived arrived) {
    TaskExchange* const exchange = this->exchange();
    // The number comes first: if another thread opens the barrier meanwhile, either this is the number of the interval
    // before it, or not all have arrived any more.
    const std::uint64_t interval = exchange != nullptr ? exchange->interval() : 0;
    return arrived() && !tasks_left() && (exchange == nullptr || exchange->tell_quiet(interval));
}

bool Team::try_to_open(std::uint64_t epoch, const void* code) {
    auto expected = static_cast<std::uint32_t>(here());
    // Several threads may see that the last task has finished; one of them opens the barrier. None of them can be late
    // and open the next barrier: it would have to arrive there first.
    if (!arrived_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return false;
    workshare_cancelled_.store(false, std::memory_order_relaxed);
    if (others_ != nullptr && others_->meet_in_region(code)) cancelled_.store(true, std::memory_order_relaxed);
    epoch_.store(epoch + 1, std::memory_order_release);
    ring();
    return true;
}

/// Between two barriers a program has one single construct, for which all wait, or several as a kind of sections.
void Team::note_singles(Member& me) {
    if (me.singles_met == me.singles_before) return;
    me.singles_alone = me.singles_met == me.singles_before + 1;
    me.singles_before = me.singles_met;
}

bool Team::barrier(Member& me, const void* code) {
    if (others_ != nullptr) {
        // Threads of a region that is cancelled may come to different barriers; the ranks meet at its end.
        if (cancelled()) return true;
        note_singles(me);
    }
    // The epoch cannot change before this thread has arrived, so a relaxed load finds it.
    const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
    const std::uint32_t arrived = arrived_.fetch_add(1, std::memory_order_acq_rel) + 1;
    const auto all_here = [this] { return all_arrived(); };
    if (arrived == static_cast<std::uint32_t>(here()) && (!had_tasks() || is_quiet(all_here)) &&
        try_to_open(epoch, code))
        return cancelled();
    // If another thread opens the barrier, this one waits until it has: the other ranks may not have arrived yet, and
    // at the next barrier this thread would take the old epoch for a new one.
    const auto opened = [&] { return epoch_.load(std::memory_order_acquire) != epoch || cancelled(); };
    do work_until(me, nullptr, [&] { return opened() || (had_tasks() && all_arrived() && may_be_quiet()); });
    while (!opened() && !(is_quiet(all_here) && try_to_open(epoch, code)));
    return cancelled();
}

bool Team::first_at_single(Member& me) {
    std::uint64_t number = me.singles_met++;
    if (others_ != nullptr) return others_->claim_single(number, me.singles_alone && number == me.singles_before);
    // A load first: the thread that is late then does not take the line from the others.
    return singles_.load(std::memory_order_relaxed) == number &&
           singles_.compare_exchange_strong(number, number + 1, std::memory_order_relaxed);
}

void Team::set_single_data(void* data) {
    if (others_ != nullptr) others_->leave_pointer(data);
    else single_data_ = data;
}
void* Team::single_data() const { return others_ != nullptr ? others_->left_pointer() : single_data_; }

void Team::stop_region() {
    cancelled_.store(true, std::memory_order_release);
    ring();
}

void Team::stop_workshare(Member& me) {
    if (me.share != nullptr) me.share->cancelled.store(true, std::memory_order_relaxed);
    workshare_cancelled_.store(true, std::memory_order_relaxed);
    ring();
}

void Team::cancel() {
    stop_region();
    if (others_ != nullptr) others_->cancel(OtherRanks::Cancelled::region);
}

void Team::cancel_workshare(Member& me) {
    stop_workshare(me);
    if (others_ != nullptr) others_->cancel(OtherRanks::Cancelled::share);
}

void Team::take_in_cancellation(Member& me) {
    if (others_ == nullptr) return;
    if (!cancelled() && others_->is_cancelled(OtherRanks::Cancelled::region)) stop_region();
    if (!workshare_cancelled() && others_->is_cancelled(OtherRanks::Cancelled::share)) stop_workshare(me);
}

void Team::prepare(const Region& region, int threads, Part part) {
    const Task& creator = *outer_->task;
    described_ = region;
    if (region.loop != nullptr) loop_ = *region.loop;
    set(group_.reductions, region.reductions);
    set(level_, outer_->team.level() + 1);
    set(active_level_, outer_->team.active_level() + (threads > 1 ? 1 : 0));
    Controls controls = creator.controls;
    controls.threads = of_level(process().environment().threads, level_, controls.threads);
    const Bind bind = region.bind != Bind::no && controls.bind != Bind::no ? region.bind : controls.bind;
    controls.bind = of_level(process().environment().binds, level_, controls.bind);
    set(controls_, controls);
    set(seats_, seats_for(bind, part.count, outer_->place, outer_->partition,
                          static_cast<int>(process().environment().places.size())));
    const bool crowd = part.count > process().processors();
    set(patience_, crowd ? &process().patience_of_crowd() : &process().patience());
    if (cancelled()) {
        shares_.reset();
        first_share_ = 0;
    }
    set(cancelled_, false);
    set(workshare_cancelled_, false);
    set(had_tasks_, exchange() != nullptr);
    set(told_task_, false);
    set(finished_elsewhere_, std::uint64_t{0});
    set(arrived_, std::uint32_t{0});
    set(singles_, std::uint64_t{0});
    set(size_, threads);
    set(here_, part.count);
    set(first_id_, part.first);
    ends_awaited_ += static_cast<std::uint32_t>(part.count - 1);
    region_.store(region_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Team::add_worker(int id) {
    owned_.push_back(std::make_unique<Member>(*this, id));
    Member* const added = owned_.back().get();
    workers_.push_back(std::make_unique<Worker>(this, added, fork_.load(std::memory_order_relaxed), pthread_t{}));
    Worker& worker = *workers_.back();
    // The variables on the stacks of a team that several ranks may share are seen by all of them.
    OtherRanks* const others = process().others();
    auto started =
        others != nullptr && in_outermost_region(*outer_) == nullptr && others->leads() && others->has_stack(id)
            ? others->start_thread(id, &Team::serve, &worker)
            : platform::start_thread_with_stack(process().environment().stack_bytes, &Team::serve, &worker);
    if (!started) refuse(started.error().message);
    worker.thread = *started;
    members_[id].store(added, std::memory_order_release);
}

void Team::enlarge(int threads) {
    if (table_ == nullptr) {
        table_ = std::make_unique<std::atomic<Member*>[]>(most_threads);
        table_[0].store(&member(0), std::memory_order_relaxed);
        members_ = table_.get();
    }
    for (int id = static_cast<int>(owned_.size()); id < threads; ++id) add_worker(id);
}

void Team::start(Member& me) {
    me.region = region();
    me.created.store(0, std::memory_order_relaxed);
    me.finished.store(0, std::memory_order_relaxed);
    me.shares_met = first_share_;
    me.claims_met = first_claim_;
    note_singles(me);
    me.singles_met = me.singles_before = first_single_;
    me.id = first_id_ + me.place_here;
    me.share = nullptr;
    me.position = {};
    me.task = &me.implicit;
    Task& task = me.implicit;
    task.parent = outer_->task;
    task.state.store(Task::one_use, std::memory_order_relaxed);
    task.group = group_.reductions != nullptr ? &group_ : nullptr;
    task.controls = controls_;
    if (task.children_dependences != nullptr) task.children_dependences.reset();
    if (!seats_.places.empty()) {
        const auto seat = static_cast<std::size_t>(me.place_here);
        me.partition = seats_.partitions[seat];
        const int before = std::exchange(me.place, seats_.places[seat]);
        if (me.place != before)
            platform::bind_to_cpus(process().environment().places[static_cast<std::size_t>(me.place)]);
    } else {
        me.place = -1;
        me.partition = outer_->partition;
    }
    if (process().environment().display_affinity) [[unlikely]]
        show_if_changed(me);
    if (described_.loop != nullptr) enter_loop(me, loop_);
}

void Team::begin(const Region& region, int threads) {
    OtherRanks* const others = process().others();
    const void* const code = region.code != nullptr ? region.code : reinterpret_cast<const void*>(region.function);
    const bool may_be_on_all = others != nullptr && in_outermost_region(*outer_) == nullptr &&
                               region.reductions == nullptr && others->leads() && others->spans(threads);
    is_alone_ = may_be_on_all && !others->runs_on_all(code);
    if (may_be_on_all && !is_alone_) {
        ForkNotice fork{.function = region.function,
                        .data = region.data,
                        .code = code,
                        .threads = threads,
                        .bind = region.bind,
                        .has_loop = region.loop != nullptr,
                        .loop = region.loop != nullptr ? *region.loop : Loop{},
                        .controls = outer_->task->controls,
                        .first_claim = others->next_claim(),
                        .first_single = others->next_single(),
                        .asks = others->asks(),
                        .exchanges_tasks = others->exchanges_tasks(code)};
        others->fork(fork);
        return begin(fork);
    }
    set<OtherRanks*>(others_, nullptr);
    set<TaskExchange*>(exchange_, nullptr);
    asks_ = is_alone_ && others->asks();
    set(first_single_, std::uint64_t{0});
    taken_ = 0;
    if (const int limit = outer_->task->controls.thread_limit; threads > 1 && limit != no_limit) {
        taken_ = initial_->take_threads(threads - 1, limit);
        threads = taken_ + 1;
    }
    if (threads > static_cast<int>(owned_.size())) enlarge(threads);
    prepare(region, threads, {0, threads});
    start_part();
}

void Team::begin(const ForkNotice& fork) {
    others_ = process().others();
    set(exchange_, fork.exchanges_tasks ? &others_->task_exchange() : nullptr);
    if (fork.exchanges_tasks) set(waits_elsewhere_, true);
    asks_ = fork.asks;
    const Part part = others_->part(fork.threads);
    taken_ = 0;
    if (const int limit = outer_->task->controls.thread_limit; limit != no_limit) {
        // What the limit leaves for regions inside this one is divided among the ranks, too.
        const int left = others_->part(std::max(limit - fork.threads, 0)).count;
        taken_ = initial_->take_threads(no_limit, limit - left);
    }
    first_claim_ = fork.first_claim;
    first_single_ = fork.first_single;
    if (part.count > static_cast<int>(owned_.size())) enlarge(part.count);
    const Region region{.function = fork.function,
                        .data = fork.data,
                        .threads = fork.threads,
                        .bind = fork.bind,
                        .loop = fork.has_loop ? &fork.loop : nullptr};
    prepare(region, fork.threads, part);
    start_part();
}

void Team::start_part() {
    if (here() > 1) {
        // release: the workers see the description of the region.
        fork_.store(fork_word(fork_.load(std::memory_order_relaxed), here()), std::memory_order_release);
        ring();
    }
    the_member = &member(0);
    start(*the_member);
}

void Team::end() {
    Member& me = member(0);
    end_body();
    // acquire: with the last one's addition, everything that all did before theirs is seen.
    const auto ended = [&] { return ended_.load(std::memory_order_acquire) == ends_awaited_; };
    if (here() > 1 || had_tasks()) {
        do work_until(me, nullptr, [&] { return ended() && (!had_tasks() || may_be_quiet()); });
        while (had_tasks() && !is_quiet(ended));
    }
    if (others_ != nullptr) {
        std::uint64_t next_claim = 0; // members of a region that is cancelled may have met different constructs
        for (int place = 0; place < here(); ++place) next_claim = std::max(next_claim, member(place).claims_met);
        others_->join(next_claim);
        if (exchange() != nullptr) {
            over_.store(region(), std::memory_order_release);
            ring();
        }
    }
    if (is_alone_) process().others()->end_alone();
    first_share_ = me.shares_met;
    outer_->place = me.place; // the master has moved
    the_member = outer_;
    if (taken_ > 0) initial_->busy_threads_.fetch_sub(taken_, std::memory_order_relaxed);
}

std::uint64_t Team::await_fork(Member& me, std::uint64_t seen, bool took_part) {
    for (;;) {
        std::uint64_t word = seen;
        const auto forked = [&] {
            word = fork_.load(std::memory_order_acquire);
            return word != seen;
        };
        const auto is_over = [&] { return over_.load(std::memory_order_acquire) == me.region; };
        Task* task = nullptr;
        if (took_part && !is_over()) task = await_task(me, nullptr, nullptr, [&] { return forked() || is_over(); });
        else wait::wait(bell_, patience(), forked);
        if (task != nullptr) run_task(me, task);
        else if (word != seen) return word;
    }
}

void* Team::serve(void* argument) {
    const Worker& worker = *static_cast<Worker*>(argument);
    Team& team = *worker.team;
    Member& me = *worker.member;
    the_member = &me;
    bool took_part = false;
    for (std::uint64_t word = worker.seen;;) {
        word = team.await_fork(me, word, took_part);
        if (size_in(word) == 0) return nullptr;
        took_part = me.place_here < size_in(word);
        if (!took_part) continue;
        team.start(me);
        team.described_.function(team.described_.data);
        team.end_body();
        if (team.others_ != nullptr) team.others_->flush_before_wait();
        // acq_rel: the master sees what this thread has done.
        team.ended_.fetch_add(1, std::memory_order_acq_rel);
        team.ring();
    }
}

int threads_for(const Member& me, int wanted) {
    const Controls& controls = me.task->controls;
    if (me.team.active_level() >= controls.max_active_levels) return 1;
    int threads = wanted > 0 ? wanted : controls.threads;
    if (controls.dynamic) threads = std::min(threads, process().processors());
    return std::min({threads, controls.thread_limit, most_threads});
}

void begin_parallel(const Region& region) {
    Member& me = self();
    if (me.inner == nullptr) me.inner = std::make_unique<Team>(me);
    me.inner->begin(region, threads_for(me, region.threads));
}

void end_parallel() { self().team.end(); }

void run_part(Member& me, const ForkNotice& fork) {
    me.task->controls = fork.controls;
    if (me.inner == nullptr) me.inner = std::make_unique<Team>(me);
    me.inner->begin(fork);
    fork.function(fork.data);
    me.inner->end();
}

const Member* in_outermost_region(const Member& me) {
    const Member* at = &me;
    while (at->team.level() > 1) at = at->team.outer();
    const Team& initial = at->team.level() == 1 ? at->team.outer()->team : at->team;
    const Member* const around = initial.waiting() != nullptr ? in_outermost_region(*initial.waiting()) : nullptr;
    return around != nullptr || at->team.level() == 0 ? around : at;
}

} // namespace kumiki::openmp
