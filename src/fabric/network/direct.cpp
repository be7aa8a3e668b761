// Puts and gets that the network carries out itself, without the target's processor, where it can
// (docs/decisions/remote-writes.md).
#include <mutex>
#include <utility>

#include "fabric/fabric.hpp"

namespace kumiki::fabric {

using Begun = Transport::Begun;
using Direction = Transport::Direction;
using State = DirectTransfer::State;

namespace {

/// The engine reads the bytes of a put, and writes those of a get.
std::span<std::byte> changeable(std::span<const std::byte> bytes) {
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

} // namespace

/// Short puts are held back for a burst, which costs less than a transfer of their own.
bool Network::put_directly(int rank, std::uint64_t offset, std::span<const std::byte> source) {
    return source.size() > Transport::longest_kept && windows_.may(rank, Direction::put) &&
           follow_messages(rank, Direction::put) && move_directly(rank, Direction::put, offset, changeable(source));
}

/// A short get that follows puts or signals goes by message, too, and so keeps its place among them.
bool Network::get_directly(int rank, std::uint64_t offset, std::span<std::byte> destination) {
    return windows_.may(rank, Direction::get) &&
           (destination.size() > Transport::longest_kept || !would_overtake(rank, Direction::get)) &&
           follow_messages(rank, Direction::get) && move_directly(rank, Direction::get, offset, destination);
}

/// A transfer by message keeps its place behind the puts and signals that this rank has sent as messages. A direct one
/// would overtake them, which matters to a put that may write where they write, and to a get that may read what they
/// write. A put may overtake a signal: a rank that sees only the signal does not expect the data of a later put.
bool Network::would_overtake(int rank, Direction direction) const {
    return direction == Direction::put ? unconfirmed_.data(rank) : unconfirmed_.any(rank);
}

/// Asks that rank to answer when it has carried out what a direct transfer would overtake, and waits for the answer.
bool Network::follow_messages(int rank, Direction direction) {
    if (!would_overtake(rank, direction)) return true;
    Ticket ticket{.of = rank, .left = 1};
    return ask(rank, header(MessageKind::flush), ticket).has_value();
}

/// Returns false when messages have to carry the data. Otherwise the data are in place.
bool Network::move_directly(int rank, Direction direction, std::uint64_t offset, std::span<std::byte> here) {
    const auto window = this->window(rank, direction, offset);
    if (!window) return false;
    DirectTransfer transfer{.rank = rank, .direction = direction, .offset = offset, .here = here};
    {
        const std::lock_guard lock(mutex_);
        const Begun begun = begin(*window, transfer);
        if (begun != Begun::under_way) return begun == Begun::complete;
    }
    fabric_.progress().wait([&] { return transfer.state.load(std::memory_order_acquire) != State::under_way; },
                            Progress::Attention::network);
    return transfer.state.load(std::memory_order_relaxed) == State::complete;
}

/// The same for a non-blocking transfer; it is complete when `done` is true. It may not wait for earlier puts.
bool Network::start_directly(int rank, Direction direction, std::uint64_t offset, std::span<std::byte> here,
                             std::atomic<bool>& done) {
    if (here.size() <= Transport::longest_kept || would_overtake(rank, direction)) return false;
    const auto window = this->window(rank, direction, offset);
    if (!window) return false;
    const std::lock_guard lock(mutex_);
    auto transfer = std::make_unique<DirectTransfer>(rank, direction, offset, here, &done);
    const Begun begun = begin(*window, *transfer);
    if (begun == Begun::complete) done.store(true, std::memory_order_release);
    if (begun != Begun::under_way) return begun == Begun::complete;
    started_directly_.emplace(transfer.get(), std::move(transfer));
    agent_.wake(); // the program may not poll again for long
    return true;
}

/// Called with the lock held.
Begun Network::begin(const DirectWindow& window, DirectTransfer& transfer) {
    const Begun begun = transport_->begin(*window.there, transfer.direction, window.address, transfer.here,
                                          reinterpret_cast<std::uintptr_t>(&transfer));
    if (begun != Begun::refused) direct_.fetch_add(1, std::memory_order_relaxed);
    else heed_route(transfer.rank, transfer.direction);
    return begun;
}

/// The engine may find only by a transfer that it is not carried out directly; it refuses the next one.
void Network::heed_route(int rank, Direction direction) {
    if (!transport_->route(rank, direction).is_direct) windows_.rule_out(rank, direction);
}

/// The transfer has ended. One that has failed is repeated by messages.
void Network::moved(std::uint64_t ticket, bool succeeded) {
    auto& transfer = *reinterpret_cast<DirectTransfer*>(ticket);
    if (transfer.done == nullptr) {
        transfer.state.store(succeeded ? State::complete : State::failed, std::memory_order_release);
    } else {
        const auto ended = std::move(started_directly_.extract(&transfer).mapped());
        if (succeeded) ended->done->store(true, std::memory_order_release);
        else if (ended->direction == Direction::put)
            started_puts_.add(ended->rank, ended->offset, ended->here, *ended->done);
        else post(ended->rank, open_get(ended->rank, ended->offset, ended->here, *ended->done));
    }
    fabric_.progress().ring(rank_);
}

// -- keys --

/// Returns the place at `offset` of that rank's memory for a direct transfer; nothing when messages have to carry the
/// data. The first transfer with a region of a rank asks that rank for the key.
std::optional<Network::DirectWindow> Network::window(int rank, Direction direction, std::uint64_t offset) {
    if (!windows_.may(rank, direction)) return std::nullopt;
    const auto region = fabric_.memory().regions().find(offset);
    if (!region) return std::nullopt;
    const auto known = [&]() -> std::optional<Windows::Window> {
        const std::lock_guard lock(mutex_);
        if (const auto* found = windows_.find(rank, region->begin)) return *found;
        heed_route(rank, direction);
        return std::nullopt;
    }();
    if (!known && !windows_.may(rank, direction)) return std::nullopt;
    const auto window = known ? *known : ask_for_window(rank, *region);
    if (!window.there) return std::nullopt;
    return DirectWindow{window.there, window.address + (offset - region->begin)};
}

Windows::Window Network::ask_for_window(int rank, const Extent& region) {
    std::vector<std::byte> key;
    Ticket ticket{.of = rank, .left = 1, .key = &key};
    MessageHeader request = header(MessageKind::share);
    request.offset = region.begin;
    request.bytes = region.size();
    if (!ask(rank, request, ticket)) return {};
    const std::lock_guard lock(mutex_);
    Windows::Window window{transport_->open_window(rank, key), ticket.value};
    windows_.add(rank, region.begin, window);
    return window;
}

/// The key goes only to a rank that has shown this rank's own key, as every message has.
void Network::answer_share(const MessageHeader& request) {
    const auto region = fabric_.memory().regions().find(request.offset);
    std::byte* const memory = fabric_.memory().own_arena() + request.offset;
    auto& key = shared_keys_[request.offset];
    if (key.empty()) key = transport_->share({memory, region->size()});
    MessageHeader answer = header(MessageKind::shared);
    answer.ticket = request.ticket;
    answer.value = reinterpret_cast<std::uintptr_t>(memory);
    static_cast<void>(post(request.source, answer, key, 0)); // the key stays as long as the region
}

bool Network::take_shared(const MessageHeader& header, std::span<const std::byte> key) {
    Ticket* const ticket = tickets_.find(header.ticket);
    if (ticket == nullptr || ticket->key == nullptr || ticket->of != header.source) return false;
    ticket->key->assign(key.begin(), key.end());
    ticket->value = header.value;
    settle(header.ticket, *ticket, 1);
    return true;
}

Transport::Route Network::route(int rank, Direction direction) {
    const std::lock_guard lock(mutex_);
    return transport_->route(rank, direction);
}

void Network::forget(const Extent& region) {
    const std::lock_guard lock(mutex_);
    windows_.drop(region.begin);
    if (shared_keys_.erase(region.begin) != 0) transport_->withdraw(fabric_.memory().address(region));
}

} // namespace kumiki::fabric
