#include "dsm/courier.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "dsm/locks.hpp"
#include "dsm/pages.hpp"
#include "fabric/fabric.hpp"
#include "platform/unordered_reads.hpp"

namespace kumiki::dsm {

using fabric::MessageHeader;

namespace {

/// In the tickets of messages with copies of pages; others are of locks.
constexpr std::uint64_t of_page = std::uint64_t{1} << 63;

/// Others may write to a page while the transport reads it, in bytes that do not matter (Pages::fetch). That may be
/// long after UnorderedReads has ended, so for ThreadSanitizer pages are copied.
#if defined(__SANITIZE_THREAD__)
constexpr bool copies_always = true;
#else
constexpr bool copies_always = false;
#endif

} // namespace

Courier::Courier(fabric::Fabric& fabric, const Arrays& arrays)
    : fabric_(fabric),
      network_(*fabric.network()),
      arrays_(arrays),
      early_(2 * Arrays::most * static_cast<std::size_t>(fabric.size())) {
    network_.admit(fabric::SinkId::pages, *this);
}

MessageHeader Courier::header(Kind kind, std::uint64_t array, std::uint64_t page) const {
    MessageHeader made = network_.header(fabric::SinkId::pages);
    made.operation = static_cast<std::uint8_t>(kind);
    made.value = array;
    made.offset = page;
    return made;
}

/// The program is in the middle of an access, which cannot return an error.
void Courier::give_up(int rank, const Failure& failure) const {
    fmt::print(stderr, "kumiki: rank {} cannot reach rank {}, which is the home of pages of a shared array: {}\n",
               fabric_.rank(), rank, failure.message);
    std::abort();
}

void Courier::fetch(int home, std::uint32_t array, PageRun run) {
    MessageHeader request = header(Kind::fetch, array, run.first);
    request.bytes = run.count;
    request.ticket = asks_for_releases() ? 1 : 0;
    if (auto sent = network_.send(home, request); !sent) give_up(home, sent.error());
}

void Courier::fetch(int home, std::uint32_t array, std::span<const PageRun> runs, std::size_t page_bytes) {
    if (runs.size() == 1 || sizeof(PackedPage) + page_bytes > longest_message()) {
        for (const PageRun& run : runs) fetch(home, array, run);
        return;
    }
    const std::size_t most = longest_message() / sizeof(PageRun);
    for (; !runs.empty(); runs = runs.subspan(std::min(most, runs.size()))) {
        const auto some = std::as_bytes(runs.first(std::min(most, runs.size())));
        if (auto sent = network_.send(home, header(Kind::fetch_runs, array, 0), some); !sent)
            give_up(home, sent.error());
    }
}

void Courier::ask_home(int manager, std::uint32_t array, std::size_t page) {
    if (auto sent = network_.send(manager, header(Kind::touched, array, page)); !sent) give_up(manager, sent.error());
}

void Courier::send_differences(int home, std::uint32_t array, std::span<const std::byte> packed, Departure departure) {
    if (answers_differences()) under_way_.fetch_add(1, std::memory_order_relaxed);
    const fabric::MessageHeader differences = header(Kind::differences, array, 0);
    const auto sent = departure == Departure::now ? network_.send(home, differences, packed)
                                                  : network_.send_later(home, differences, packed);
    if (!sent) give_up(home, sent.error());
}

void Courier::send_updates(int rank, std::uint32_t array, std::uint64_t barrier, std::span<const std::byte> packed) {
    MessageHeader update = header(Kind::update, array, 0);
    update.ticket = barrier;
    if (auto sent = network_.send(rank, update, packed); !sent) give_up(rank, sent.error());
}

void Courier::tell_dropped(int home, std::uint32_t array, std::span<const std::uint64_t> pages) {
    const std::size_t most = longest_message() / sizeof(std::uint64_t);
    for (; !pages.empty(); pages = pages.subspan(std::min(most, pages.size()))) {
        const auto some = std::as_bytes(pages.first(std::min(most, pages.size())));
        if (auto sent = network_.send(home, header(Kind::dropped, array, 0), some); !sent) give_up(home, sent.error());
    }
}

void Courier::forget(Arrays& arrays, std::uint32_t number) {
    const std::lock_guard lock(unawaited_);
    arrays.remove(number);
}

bool Courier::answers_differences() const { return fabric_.size() > 2; }

void Courier::await_applied() {
    fabric_.progress().wait([this] { return under_way_.load(std::memory_order_acquire) == 0; },
                            fabric::Progress::Attention::network);
}

bool Courier::receive(const MessageHeader& header, std::span<const std::byte> payload) {
    const auto kind = static_cast<Kind>(header.operation);
    if (kind == Kind::applied) {
        if (under_way_.load(std::memory_order_relaxed) <= 0) return false;
        under_way_.fetch_sub(1, std::memory_order_release);
        fabric_.progress().ring(fabric_.rank());
        return true;
    }
    if (header.operation >= static_cast<std::uint8_t>(Locks::Kind::ask)) {
        Locks* const locks = locks_.load(std::memory_order_acquire);
        return locks != nullptr && locks->receive(header, payload);
    }
    if (kind == Kind::update || kind == Kind::dropped || kind == Kind::early) return receive_unawaited(header, payload);
    if (kind == Kind::fetch_early) return receive_early(header, payload);
    Pages* const array = arrays_.find(header.value);
    if (array == nullptr) return false;
    const std::uint64_t number = changes_.load(std::memory_order_relaxed) + 1;
    switch (kind) {
    case Kind::fetch: return answer(header, *array);
    case Kind::fetch_runs: return answer_runs(header, payload, *array);
    case Kind::page:
    case Kind::packed:
        if (kind == Kind::page ? !array->take(header.offset, payload, {number, header.ticket != 0})
                               : !take_packed(payload, *array, number, header.ticket != 0))
            return false;
        changes_.store(number, std::memory_order_release);
        fabric_.progress().ring(fabric_.rank());
        return true;
    case Kind::differences:
        if (!array->apply(payload, {number, false})) return false;
        changes_.store(number, std::memory_order_release);
        if (answers_differences()) network_.post(header.source, this->header(Kind::applied, header.value, 0));
        return true;
    case Kind::touched: return give_home(header, *array);
    case Kind::home:
        if (!array->take_home(header.offset, header.ticket)) return false;
        fabric_.progress().ring(fabric_.rank());
        return true;
    case Kind::update:
    case Kind::dropped:
    case Kind::fetch_early:
    case Kind::early:
    case Kind::applied: break;
    }
    return false;
}

/// The array may have been released since the message was sent.
bool Courier::receive_unawaited(const MessageHeader& header, std::span<const std::byte> payload) {
    const std::lock_guard lock(unawaited_);
    Pages* const array = arrays_.find(header.value);
    if (array == nullptr) return header.value < Arrays::most;
    if (static_cast<Kind>(header.operation) == Kind::dropped) return array->forget_holder(header.source, payload);
    const bool taken = static_cast<Kind>(header.operation) == Kind::early
                           ? array->take_early(header.source, header.ticket, payload)
                           : array->take_update(header.source, header.ticket, payload);
    if (!taken) return false;
    fabric_.progress().ring(fabric_.rank());
    return true;
}

void Courier::left(std::uint64_t ticket) {
    if ((ticket & of_page) != 0) lent_.erase(ticket);
    else if (Locks* const locks = locks_.load(std::memory_order_acquire)) locks->left(ticket);
}

bool Courier::give_home(const MessageHeader& request, Pages& array) {
    const int home = array.home_for(request.offset, request.source);
    if (home < 0) return false;
    MessageHeader made = header(Kind::home, request.value, request.offset);
    made.ticket = static_cast<std::uint64_t>(home);
    network_.post(request.source, made);
    return true;
}

/// The answer is as many messages as it needs. A page that is sent stays in place, so nothing needs to be kept until
/// its message has left.
bool Courier::answer(const MessageHeader& request, Pages& array) {
    if (array.lends_copies(request.bytes) || (request.bytes == 1 && request.ticket != 0) || copies_always)
        return answer_with_copies(request, array);
    const std::byte* contents = array.lend(request.offset, request.bytes, request.source);
    if (contents == nullptr) return false;
    const platform::UnorderedReads unordered; // as in Pages::fetch
    const std::size_t page_bytes = array.layout().page_bytes;
    const std::size_t most = std::max<std::size_t>(longest_message() / page_bytes, 1);
    const std::size_t end = request.offset + request.bytes;
    for (std::size_t page = request.offset; page < end;) {
        const std::size_t count = std::min(most, end - page);
        MessageHeader pages = header(Kind::page, request.value, page);
        pages.ticket = 1; // they are in use while they are sent
        static_cast<void>(network_.post(request.source, pages, {contents, count * page_bytes}, 0));
        contents += count * page_bytes;
        page += count;
    }
    return true;
}

/// Where the home knows what exactly it has lent, or wants to tell whether it has released it.
bool Courier::answer_with_copies(const MessageHeader& request, Pages& array) {
    const PageRun run{request.offset, request.bytes};
    if (!array.has(run)) return false;
    array.protect_open(run);
    for (std::size_t page = request.offset; page < request.offset + request.bytes; ++page) {
        std::vector<std::byte> copy(array.layout().page_bytes);
        MessageHeader pages = header(Kind::page, request.value, page);
        pages.ticket = array.lend_copy(page, request.source, copy.data()) ? 1 : 0;
        post_kept(request.source, pages, std::move(copy));
    }
    return true;
}

bool Courier::answer_runs(const MessageHeader& request, std::span<const std::byte> payload, Pages& array) {
    std::vector<PageRun> runs(payload.size() / sizeof(PageRun));
    if (!runs.empty()) std::memcpy(runs.data(), payload.data(), runs.size() * sizeof(PageRun));
    const std::size_t page_bytes = array.layout().page_bytes, entry = sizeof(PackedPage) + page_bytes;
    if (payload.size() % sizeof(PageRun) != 0 || entry > longest_message() ||
        !std::ranges::all_of(runs, [&array](const PageRun& run) { return array.has(run); }))
        return false;
    MessageHeader pages = header(Kind::packed, request.value, 0);
    std::vector<std::byte> packed;
    const auto send = [&] {
        post_kept(request.source, pages, std::exchange(packed, {}));
        pages.ticket = 0;
    };
    for (const PageRun& run : runs) {
        array.protect_open(run);
        for (std::size_t page = run.first; page < run.first + run.count; ++page) {
            if (packed.size() + entry > longest_message()) send();
            if (packed.empty()) packed.reserve(longest_message());
            append_head(packed, {page, page_bytes});
            packed.resize(packed.size() + page_bytes);
            if (array.lend_copy(page, request.source, &packed[packed.size() - page_bytes])) pages.ticket = 1;
        }
    }
    if (!packed.empty()) send();
    return true;
}

// -- requests ahead of a barrier --

void Courier::fetch_early(int home, std::uint32_t array, std::uint64_t barrier, std::span<const PageRun> runs) {
    MessageHeader request = header(Kind::fetch_early, array, 0);
    request.ticket = barrier;
    if (auto sent = network_.send_later(home, request, std::as_bytes(runs)); !sent) give_up(home, sent.error());
}

/// A request that comes when this rank has left the barrier is declined, because this thread cannot know which homes
/// are in force.
bool Courier::receive_early(const MessageHeader& header, std::span<const std::byte> payload) {
    EarlyRequest request{header.source, header.value, header.ticket,
                         std::vector<PageRun>(payload.size() / sizeof(PageRun))};
    if (!payload.empty()) std::memcpy(request.runs.data(), payload.data(), request.runs.size() * sizeof(PageRun));
    std::size_t pages = 0;
    for (const PageRun& run : request.runs) pages += std::min<std::size_t>(run.count, EarlyRequests::most_pages + 1);
    if (payload.size() % sizeof(PageRun) != 0 || pages > EarlyRequests::most_pages) return false;
    const auto put = early_.put(request);
    if (put != EarlyRequests::Put::late) return put == EarlyRequests::Put::kept;
    MessageHeader answer = this->header(Kind::early, request.array, 0);
    answer.ticket = request.barrier;
    std::vector<std::byte> declined;
    for (const PageRun& run : request.runs)
        for (std::size_t page = run.first; page < run.first + run.count; ++page)
            append_head(declined, PackedPage{page, 0});
    post_kept(header.source, answer, std::move(declined));
    return true;
}

void Courier::answer_early(std::uint64_t barrier) {
    std::size_t left = EarlyRequests::most_pages;
    for (const EarlyRequest& request : early_.take(barrier))
        if (Pages* const array = arrays_.find(request.array)) answer_early(request, *array, left);
}

/// Sends at most `left` pages.
void Courier::answer_early(const EarlyRequest& request, Pages& array, std::size_t& left) {
    MessageHeader answer = header(Kind::early, request.array, 0);
    answer.ticket = request.barrier;
    std::vector<std::byte> packed;
    packed.reserve(longest_message());
    const auto send = [&] {
        if (auto sent = network_.send(request.source, answer, packed); !sent) give_up(request.source, sent.error());
        packed.clear();
    };
    const std::size_t page_bytes = array.layout().page_bytes;
    for (const PageRun& run : request.runs) {
        if (!array.has(run)) continue;
        array.protect_open(run);
        for (std::size_t page = run.first; page < run.first + run.count; ++page) {
            if (packed.size() + sizeof(PackedPage) + page_bytes > longest_message()) send();
            const std::size_t at = append_head(packed, PackedPage{page, page_bytes});
            packed.resize(packed.size() + page_bytes);
            if (left > 0 && array.lend_early(page, run.count, request.source, &packed[packed.size() - page_bytes])) {
                --left;
                continue;
            }
            packed.resize(at);
            append_head(packed, PackedPage{page, 0});
        }
    }
    if (!packed.empty()) send();
}

bool Courier::take_packed(std::span<const std::byte> payload, Pages& array, std::uint64_t number, bool unreleased) {
    return for_each_packed_page(payload, array.layout().pages,
                                [&](const PackedPage& head, std::span<const std::byte> contents) {
                                    return array.take(head.page, contents, {number, unreleased});
                                });
}

/// The payload stays until it has left.
void Courier::post_kept(int rank, const MessageHeader& header, std::vector<std::byte> payload) {
    const std::uint64_t ticket = of_page | ++tickets_;
    const auto& kept = lent_[ticket] = std::move(payload);
    if (network_.post(rank, header, kept, ticket)) lent_.erase(ticket);
}

} // namespace kumiki::dsm
