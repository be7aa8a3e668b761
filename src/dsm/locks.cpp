#include "dsm/locks.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace kumiki::dsm {

using fabric::MessageHeader;
using Answer = LockArea::Answer;

/// A different address in every thread.
const void* Locks::this_thread() {
    static thread_local const char mark = 0;
    return &mark;
}

Locks::Locks(fabric::Fabric& fabric, Consistency* consistency, std::byte* region)
    : fabric_(fabric),
      consistency_(consistency),
      region_(region),
      owners_(KUMIKI_SHARED_LOCKS),
      wanted_(static_cast<std::size_t>(fabric.size()) * Waiter::places),
      watchers_(static_cast<std::size_t>(fabric.size())) {}

std::byte* Locks::region_at(int rank) const {
    std::byte* const arena = fabric_.memory().arena(rank);
    return arena == nullptr ? nullptr : arena + fabric_.memory().offset(region_);
}

Result<> Locks::check(int lock, const char* operation) const {
    if (lock >= 0 && lock < KUMIKI_SHARED_LOCKS) return {};
    return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("{}: there is no lock {}; the locks have the numbers 0 to {}",
                                                   operation, lock, KUMIKI_SHARED_LOCKS - 1));
}

Result<> Locks::acquire(int lock, int under, std::optional<PageName> wanted) {
    if (auto checked = check(lock, "shared_lock"); !checked) return checked;
    const explain::Timed timed(record_, explain::Tallied::lock, static_cast<std::uint64_t>(lock));
    auto& owner = owners_[static_cast<std::size_t>(lock)];
    if (owner.load(std::memory_order_relaxed) == this_thread())
        return fail(
            KUMIKI_ERROR_STATE,
            fmt::format("shared_lock: this thread has lock {} already, and would wait for itself for ever", lock));
    end_interval();
    if (const int manager = manager_of(lock); region_at(manager) != nullptr) {
        take_here(lock, area_at(manager));
        read_log(manager, under);
    } else {
        ask(lock, Kind::ask, under, wanted);
    }
    return has(lock);
}

Result<bool> Locks::try_acquire(int lock, int under) {
    if (auto checked = check(lock, "shared_trylock"); !checked) return tl::unexpected(checked.error());
    end_interval();
    if (const int manager = manager_of(lock); region_at(manager) != nullptr) {
        if (!area_at(manager).take(lock, static_cast<std::uint32_t>(fabric_.rank()))) return false;
        read_log(manager, under);
    } else if (!ask(lock, Kind::ask_once, under)) {
        return false;
    }
    return has(lock).map([] { return true; });
}

/// For the race check: what this rank has written so far comes before what it will learn with a lock.
void Locks::end_interval() {
    if (clocks_ != nullptr) [[unlikely]]
        consistency_->release([](const History&) {});
}

Result<> Locks::has(int lock) {
    owners_[static_cast<std::size_t>(lock)].store(this_thread(), std::memory_order_relaxed);
    return clocks_ != nullptr ? clocks_->acquired(lock) : Result<>{};
}

Result<> Locks::release(int lock) {
    if (auto checked = check(lock, "shared_unlock"); !checked) return checked;
    auto& owner = owners_[static_cast<std::size_t>(lock)];
    if (const void* const held = owner.load(std::memory_order_relaxed); held != this_thread())
        return fail(KUMIKI_ERROR_STATE,
                    fmt::format("shared_unlock: {} lock {}; the thread that has acquired a lock releases it",
                                held != nullptr ? "another thread of this rank has" : "this rank does not have", lock));
    owner.store(nullptr, std::memory_order_relaxed);
    const int manager = manager_of(lock);
    Result<> told;
    if (region_at(manager) == nullptr) {
        // Sent by one thread at a time, because the notices that it takes may be those of another thread's release.
        consistency_->release([&](History& history) {
            MessageHeader message = header(Kind::release);
            message.value = static_cast<std::uint64_t>(lock);
            message.signal = history.epoch();
            if (clocks_ != nullptr) told = clocks_->releasing(lock);
            const std::vector<Told> news = history.news_for(manager);
            send(manager, message, std::as_bytes(std::span(news)));
        });
        return told;
    }
    LockArea area = area_at(manager);
    if (consistency_ != nullptr)
        consistency_->release([&](History& history) { area.tell(history.epoch(), history.news_for(manager)); });
    if (manager == fabric_.rank()) send_news();
    if (clocks_ != nullptr) told = clocks_->releasing(lock);
    pass_on(lock, area);
    return told;
}

Result<> Locks::all_released() const {
    for (std::size_t lock = 0; lock < owners_.size(); ++lock)
        if (owners_[lock].load(std::memory_order_relaxed) != nullptr)
            return fail(KUMIKI_ERROR_STATE, fmt::format("leave: rank {} still has the shared lock {}, for which others "
                                                        "may wait; release it first",
                                                        fabric_.rank(), lock));
    return {};
}

// -- the thread that wants a lock --

bool Locks::Place::take() {
    for (std::uint32_t word = 0; word < locks_.taken_places_.size(); ++word) {
        auto& taken = locks_.taken_places_[word];
        for (std::uint64_t now = taken.load(std::memory_order_relaxed); ~now != 0;) {
            const auto bit = static_cast<std::uint32_t>(std::countr_one(now));
            number_ = word * bits + bit;
            if (taken.compare_exchange_weak(now, now | std::uint64_t{1} << bit, std::memory_order_acquire,
                                            std::memory_order_relaxed))
                return true;
        }
    }
    return false;
}

Locks::Place::Place(Locks& locks) : locks_(locks) {
    locks_.fabric_.progress().wait([this] { return take(); });
    locks_.area_at(locks_.fabric_.rank()).answer(number_).store(Answer::none, std::memory_order_relaxed);
}

Locks::Place::~Place() {
    locks_.taken_places_[number_ / bits].fetch_and(~(std::uint64_t{1} << number_ % bits), std::memory_order_release);
    locks_.fabric_.progress().ring(locks_.fabric_.rank());
}

void Locks::take_here(int lock, LockArea area) {
    if (area.take(lock, static_cast<std::uint32_t>(fabric_.rank()))) return;
    const Place place(*this);
    if (area.take_or_queue(lock, waiter(place), 0)) return;
    recall(lock, area.holder(lock), [this](int rank, const Outgoing& outgoing) { send(rank, outgoing.header, {}); });
    await(place);
}

Answer Locks::await(const Place& place) {
    auto& answer = area_at(fabric_.rank()).answer(place.number());
    fabric_.progress().wait([&answer] { return answer.load(std::memory_order_acquire) != Answer::none; });
    return answer.load(std::memory_order_relaxed);
}

/// A thread that holds the other lock and waits for this one would be waited for, so it takes the other one only now,
/// when it has this one.
template <class Drop>
void Locks::drop_copies(int under, Drop drop) {
    const bool has_taken = under != no_lock && acquire(under);
    drop();
    if (has_taken) static_cast<void>(release(under));
}

/// Whether the log has nothing new. It may get longer meanwhile.
bool Locks::has_read_log(int manager) {
    bool has_read = false;
    consistency_->with_history([&](const History& history) {
        std::vector<Told> news;
        has_read = area_at(manager).read(history.epoch(), history.position(manager), news).complete && news.empty();
    });
    return has_read;
}

/// The thread has the lock, so the log has everything that came before in it.
void Locks::read_log(int manager, int under) {
    if (consistency_ == nullptr || (under != no_lock && has_read_log(manager))) return;
    drop_copies(under, [&] {
        consistency_->acquire([&](History& history, std::vector<Told>& news) {
            const auto read = area_at(manager).read(history.epoch(), history.position(manager), news);
            history.has_read(manager, read.end);
            return read.complete;
        });
    });
}

/// Asks a manager on another host; returns whether this thread has the lock.
bool Locks::ask(int lock, Kind kind, int under, std::optional<PageName> wanted) {
    const int manager = manager_of(lock);
    const Place place(*this);
    MessageHeader request = header(kind);
    request.value = static_cast<std::uint64_t>(lock);
    request.ticket = place.number();
    std::uint64_t step = 0;
    consistency_->with_history([&](const History& history) {
        request.offset = history.position(manager);
        request.signal = history.epoch();
        step = history.steps();
        if (wanted && consistency_->may_come(*wanted, manager)) request.bytes = wanted->code();
    });
    send(manager, request, {});
    if (await(place) == Answer::refused) return false;
    const Arrival& arrival = arrivals_[place.number()];
    if (arrival.news.empty() && arrival.read.complete) under = no_lock;
    drop_copies(under, [&] {
        const auto read = [&](History& history, std::vector<Told>& news) {
            return take_in(place, manager, history, news);
        };
        if (arrival.page.empty()) return consistency_->acquire(read);
        consistency_->acquire(read, Consistency::SentPage{*wanted, arrival.page, arrival.origin, step});
    });
    return true;
}

/// The part of the manager's log that came with its answer. Returns whether it is all that this rank lacked.
bool Locks::take_in(const Place& place, int manager, History& history, std::vector<Told>& news) {
    Arrival& arrival = arrivals_[place.number()];
    news = std::move(arrival.news);
    history.has_read(manager, arrival.read.end);
    return arrival.read.complete;
}

// -- passing a lock on --

/// By a thread of the program, which may wait until the answer has left.
void Locks::pass_on(int lock, LockArea area) {
    pass_on(lock, area, 0,
            [this](int rank, const Outgoing& outgoing) { send(rank, outgoing.header, outgoing.payload); });
}

Locks::Outgoing Locks::answer_for(const LockArea::Next& next, std::uint64_t epoch, LockArea area, Answer answer) {
    Outgoing outgoing{header(Kind::answer), {}};
    outgoing.header.ticket = next.waiter.place;
    outgoing.header.value = static_cast<std::uint64_t>(answer);
    if (answer == Answer::refused) return outgoing;
    std::vector<Told> news;
    const auto read = area.read(epoch, next.position, news);
    outgoing.header.offset = read.end;
    outgoing.header.signal = read.complete ? Mark::complete : 0;
    const auto told = std::as_bytes(std::span(news));
    outgoing.payload.assign(told.begin(), told.end());
    add_page(outgoing, next, news);
    return outgoing;
}

/// The page that the thread wants with the lock, if it is among the news. It is copied behind them, so it has all of
/// which they tell.
void Locks::add_page(Outgoing& outgoing, const LockArea::Next& next, std::span<const Told> news) {
    const auto wanted = PageName::from(wanted_[next.waiter.number()].page);
    if (!wanted) return;
    const auto copy = consistency_->lend(*wanted, static_cast<int>(next.waiter.rank), news);
    if (copy.contents.empty()) return;
    outgoing.header.signal |= Mark::page | (copy.unreleased ? Mark::unreleased : 0);
    outgoing.header.bytes = copy.contents.size();
    outgoing.payload.insert(outgoing.payload.end(), copy.contents.begin(), copy.contents.end());
}

// -- releases on request --

void Locks::ask_to_release(int rank) {
    const Place place(*this);
    MessageHeader request = header(Kind::publish);
    request.ticket = place.number();
    send(rank, request, {});
    await(place);
}

void Locks::serve_releases(std::function<void(Waiter)> serve) {
    serve_releases_ = std::move(serve);
    serves_releases_.store(true, std::memory_order_release);
}

void Locks::has_released(Waiter waiter) {
    MessageHeader answer = header(Kind::answer);
    answer.ticket = waiter.place;
    answer.value = static_cast<std::uint64_t>(Answer::granted);
    send(static_cast<int>(waiter.rank), answer, {});
}

bool Locks::asked_to_release(const MessageHeader& header) {
    if (header.ticket >= Waiter::places || !serves_releases_.load(std::memory_order_acquire)) return false;
    serve_releases_({static_cast<std::uint32_t>(header.source), static_cast<std::uint32_t>(header.ticket)});
    return true;
}

bool Locks::recalled(const MessageHeader& header) {
    if (header.value >= KUMIKI_SHARED_LOCKS || !recall_) return false;
    recall_(static_cast<int>(header.value));
    return true;
}

// -- messages --

MessageHeader Locks::header(Kind kind) const {
    MessageHeader made = fabric_.network()->header(fabric::SinkId::pages);
    made.operation = static_cast<std::uint8_t>(kind);
    return made;
}

void Locks::send(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    const auto sent = fabric_.network()->send(rank, header, payload);
    if (sent) return;
    fmt::print(stderr, "kumiki: rank {} cannot reach rank {} about a shared lock: {}\n", fabric_.rank(), rank,
               sent.error().message);
    std::abort();
}

/// By the receiving thread, which must not wait.
void Locks::post(int rank, Outgoing outgoing) {
    const std::uint64_t ticket = ++tickets_;
    const auto& payload = posted_[ticket] = std::move(outgoing.payload);
    if (fabric_.network()->post(rank, outgoing.header, payload, ticket)) posted_.erase(ticket);
}

bool Locks::receive(const MessageHeader& header, std::span<const std::byte> payload) {
    switch (static_cast<Kind>(header.operation)) {
    case Kind::ask:
    case Kind::ask_once: return asked(header);
    case Kind::answer: return answered(header, payload);
    case Kind::release: return released(header, payload);
    case Kind::watch: return watched(header);
    case Kind::news: return told_news();
    case Kind::change: return asked_to_change(header, payload);
    case Kind::publish: return asked_to_release(header);
    case Kind::recall: return recalled(header);
    }
    return false;
}

/// The notices of a message. Returns false if it is none of this job's.
bool Locks::unpack(std::span<const std::byte> payload, std::vector<Told>& news) const {
    if (payload.size() % sizeof(Told) != 0) return false;
    news.resize(payload.size() / sizeof(Told));
    if (!payload.empty()) std::memcpy(news.data(), payload.data(), payload.size());
    std::erase_if(news, [this](const Told& told) {
        return told.writer >= Told::writers(static_cast<std::size_t>(fabric_.size()));
    });
    return true;
}

bool Locks::asked(const MessageHeader& header) {
    if (header.value >= KUMIKI_SHARED_LOCKS || header.ticket >= Waiter::places) return false;
    const auto lock = static_cast<int>(header.value);
    if (manager_of(lock) != fabric_.rank()) return false;
    LockArea area = area_at(fabric_.rank());
    const Waiter waiter{static_cast<std::uint32_t>(header.source), static_cast<std::uint32_t>(header.ticket)};
    Answer answer = Answer::granted;
    if (static_cast<Kind>(header.operation) == Kind::ask) {
        // A rank of this host that passes the lock on has no pages of this one.
        const bool is_alone = fabric_.everybody().host_size() == 1;
        wanted_[waiter.number()] = {.is_change = false, .page = is_alone ? header.bytes : 0};
        if (!area.take_or_queue(lock, waiter, header.offset)) { // the answer comes when it is its turn
            recall(lock, area.holder(lock), [this](int rank, Outgoing outgoing) { post(rank, std::move(outgoing)); });
            return true;
        }
    } else if (!area.take(lock, waiter.rank)) {
        answer = Answer::refused;
    }
    post(header.source, answer_for({waiter, header.offset}, header.signal, area, answer));
    return true;
}

bool Locks::answered(const MessageHeader& header, std::span<const std::byte> payload) {
    if (header.ticket >= Waiter::places) return false;
    Arrival& arrival = arrivals_[header.ticket];
    const bool has_page = (header.signal & Mark::page) != 0;
    const std::size_t page_bytes = has_page ? header.bytes : 0;
    if (page_bytes > payload.size()) return false;
    const std::size_t begin = payload.size() - page_bytes;
    if (!unpack(payload.first(begin), arrival.news)) return false;
    arrival.page.assign(payload.begin() + static_cast<std::ptrdiff_t>(begin), payload.end());
    if (has_page) arrival.origin = {consistency_->number_change(), (header.signal & Mark::unreleased) != 0};
    arrival.read = {header.offset, (header.signal & Mark::complete) != 0};
    arrival.before = header.bytes;
    area_at(fabric_.rank())
        .answer(static_cast<std::uint32_t>(header.ticket))
        .store(static_cast<Answer>(header.value), std::memory_order_release);
    fabric_.progress().ring(fabric_.rank());
    return true;
}

bool Locks::released(const MessageHeader& header, std::span<const std::byte> payload) {
    if (header.value >= KUMIKI_SHARED_LOCKS) return false;
    const auto lock = static_cast<int>(header.value);
    LockArea area = area_at(fabric_.rank());
    std::vector<Told> news;
    if (manager_of(lock) != fabric_.rank() || area.holder(lock) != header.source || !unpack(payload, news))
        return false;
    area.tell(header.signal, news);
    post_news();
    pass_on(lock, area, header.signal, [this](int rank, Outgoing outgoing) { post(rank, std::move(outgoing)); });
    return true;
}

} // namespace kumiki::dsm
