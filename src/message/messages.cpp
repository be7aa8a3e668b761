#include "message/messages.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>

namespace kumiki::message {

Messages::Messages(fabric::Fabric& fabric, const Options& options)
    : table_(fabric),
      near_(table_, options.ways, options.fragment, options.longest_near, options.reserve),
      agent_(fabric, near_),
      far_(fabric.network() == nullptr
               ? nullptr
               : std::make_unique<Far>(table_, *fabric.network(), options.fragment, options.longest_far)) {
    fabric.progress().hooks().add(*this);
}

Result<Request*> Messages::send(int rank, int tag, std::span<const std::byte> data) {
    fabric::StagedSource staged(data);
    auto sent = table_.fabric.memory().is_remote(rank) ? far_->send(rank, tag, staged.data())
                                                       : near_.send(rank, tag, staged.data());
    if (sent && *sent != nullptr) keep(**sent, staged.take(), nullptr);
    return sent;
}

/// Makes the request the owner of the copy, if there is one, that its transfer uses. Only the thread that ends the
/// request looks at this. The data of a message are the copy already, and other threads may be reading where they are.
void Messages::keep(Request& request, std::unique_ptr<std::byte[]> copy, std::byte* program) {
    if (copy == nullptr) return;
    if (request.data == nullptr) request.data = copy.get();
    static_cast<void>(copy.release());
    request.staged = true;
    request.program = program;
}

Request& Messages::receive(int source, int tag, std::span<std::byte> into) {
    fabric::StagedDestination staged(into);
    std::unique_lock lock(table_.lock);
    Request& request = table_.open(source, tag, staged.data().data(), into.size());
    keep(request, staged.take(), into.data());
    Arrival* const arrival = table_.matching.find(source, tag);
    if (arrival == nullptr) {
        table_.matching.post(request);
        return request;
    }
    table_.matching.take(*arrival);
    if (table_.fabric.memory().is_remote(arrival->source)) {
        lock.unlock();
        far_->give(request, *arrival);
        arrival->kept = {};
        Pool<Arrival>::give_back(*arrival);
    } else near_.give(lock, request, *arrival);
    return request;
}

// -- waiting --

void Messages::progress() {
    if (near_.pending()) near_.progress();
    near_.copy();
}

/// Every wait, even one for a request that is already complete, sends the messages that are held back, so that the next
/// message begins a new burst.
void Messages::leave() {
    if (auto* network = table_.fabric.network()) network->release();
}

Result<Status> Messages::wait(Request& request) {
    leave();
    table_.fabric.progress().wait([&] { return request.done.load(std::memory_order_acquire); });
    return end(request);
}

std::optional<Result<Status>> Messages::test(Request& request) {
    if (!request.done.load(std::memory_order_acquire)) table_.fabric.progress().look();
    if (!request.done.load(std::memory_order_acquire)) return std::nullopt;
    return end(request);
}

std::size_t Messages::wait_any(std::span<Request* const> requests) {
    leave();
    const auto complete = [](const Request* request) {
        return request != nullptr && request->done.load(std::memory_order_acquire);
    };
    auto found = requests.end();
    table_.fabric.progress().wait([&] { return (found = std::ranges::find_if(requests, complete)) != requests.end(); });
    return static_cast<std::size_t>(found - requests.begin());
}

Result<Status> Messages::end(Request& request) {
    auto ended = outcome(request);
    close(request);
    return ended;
}

/// Stores data that were received into a copy, and gives the request back.
void Messages::close(Request& request) {
    if (request.staged) {
        const std::unique_ptr<std::byte[]> copy(request.data);
        if (request.program != nullptr && request.length <= request.bytes)
            std::copy_n(copy.get(), request.length, request.program);
    }
    Pool<Request>::give_back(request);
}

Result<Status> Messages::outcome(const Request& request) const {
    if (request.length > request.bytes) return tl::unexpected(too_long(request));
    if (request.broken)
        return fail(KUMIKI_ERROR_ARGUMENT,
                    fmt::format("the memory of a message of {} bytes with tag {} (here or at rank {}) cannot be "
                                "reached; it must stay as it is until the message is complete",
                                request.length, request.tag, request.rank));
    return Status{request.rank, request.tag, request.length};
}

Failure Messages::too_long(const Request& request) const {
    return {KUMIKI_ERROR_ARGUMENT,
            fmt::format("receive: the message of rank {} with tag {} has {} bytes, and the receive takes {}; give it "
                        "more memory, or find out the length by a probe first",
                        request.rank, request.tag, request.length, request.bytes)};
}

std::optional<Status> Messages::probe(int source, int tag) {
    table_.fabric.progress().look();
    const std::lock_guard lock(table_.lock);
    const Arrival* const found = table_.matching.find(source, tag);
    if (found == nullptr) return std::nullopt;
    return Status{found->source, found->tag, found->bytes};
}

Status Messages::wait_probe(int source, int tag) {
    std::optional<Status> found;
    table_.fabric.progress().wait([&] {
        const std::lock_guard lock(table_.lock);
        if (const Arrival* const arrival = table_.matching.find(source, tag))
            found = Status{arrival->source, arrival->tag, arrival->bytes};
        return found.has_value();
    });
    return *found;
}

Messages::Usage Messages::usage() {
    const std::lock_guard lock(table_.lock);
    return {near_.slots_in_use(), table_.matching.arrivals()};
}

} // namespace kumiki::message
