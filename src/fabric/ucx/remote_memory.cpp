#include "fabric/ucx/remote_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

#include "fabric/ucx/description.hpp"
#include "text/text.hpp"

namespace kumiki::fabric::ucx {

using Begun = Transport::Begun;
using Direction = Transport::Direction;
using Route = Transport::Route;

namespace {

/// The user's choice of transports without TCP; empty when nothing else is in it. Without a choice of the user, Kumiki
/// leaves out shared memory, as for messages.
std::string without_tcp(const char* wish) {
    if (wish == nullptr) return "^sm,tcp";
    const std::string_view wanted = wish;
    if (wanted.starts_with('^')) return fmt::format("{},tcp", wanted);
    std::string kept;
    for (const std::string_view word : text::split(wanted, ',')) {
        if (word == "all") return "^tcp";
        const auto name = word.substr(word.starts_with('\\') ? 1 : 0);
        if (name.substr(0, name.find(':')) != "tcp") kept.append(kept.empty() ? "" : ",").append(word);
    }
    return kept;
}

std::string name_of(Direction direction) { return direction == Direction::put ? "puts" : "gets"; }

} // namespace

/// A key of another rank's memory, and whose it is.
struct RemoteMemory::Window final : Transport::Window {
    int rank = 0;
    Owned<ucp_rkey_h> key;
};

/// A transfer that has begun. It has ended when all its requests have, and begin() itself has returned.
struct RemoteMemory::Operation {
    RemoteMemory* owner;
    Peer* peer;
    Direction direction;
    std::uint64_t ticket;
    int open = 1; ///< requests, and begin()
    bool failed = false;
};

// -- the network --

Result<std::unique_ptr<RemoteMemory>> RemoteMemory::open(const std::string& interface, Moved moved) {
    std::unique_ptr<RemoteMemory> made(new RemoteMemory(std::move(moved)));
    if (auto started = made->start(interface); !started) return tl::unexpected(started.error());
    return made;
}

Result<> RemoteMemory::start(const std::string& interface) {
    const std::string allowed = without_tcp(std::getenv("UCX_TLS"));
    if (allowed.empty())
        return fail(KUMIKI_ERROR_ENVIRONMENT, "UCX_TLS allows TCP only, which does not write remote memory itself");
    auto config = read_settings();
    if (!config) return tl::unexpected(config.error());
    if (const auto status = ucp_config_modify(config->get(), "TLS", allowed.c_str()); status != UCS_OK)
        return tl::unexpected(failure("set TLS=" + allowed, status));
    if (!interface.empty())
        if (auto done = set(config->get(), "NET_DEVICES", interface); !done) return done;
    auto context = make_context(config->get(), UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP, "start without TCP");
    if (!context) return tl::unexpected(context.error());
    const auto transports = transports_of(context->get());
    if (std::ranges::none_of(transports, writes_itself))
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("UCX {} finds no network here that writes remote memory itself (beside TCP it may "
                                "use: {})",
                                ucp_get_version_string(), fmt::join(transports, ", ")));
    auto worker = make_worker(context->get());
    if (!worker) return tl::unexpected(worker.error());
    if (const auto status = ucp_worker_get_efd(worker->get(), &descriptor_); status != UCS_OK)
        return tl::unexpected(failure("wake a thread that waits", status));
    auto address = address_of(worker->get());
    if (!address) return tl::unexpected(address.error());
    context_ = std::move(*context);
    worker_ = std::move(*worker);
    address_ = std::move(*address);
    return {};
}

RemoteMemory::~RemoteMemory() {
    if (!worker_) return;
    moved_ = {}; // its receiver may no longer exist
    std::vector<ucp_ep_h> connections;
    for (const Peer& each : peers_) connections.push_back(each.endpoint);
    close(worker_.get(), connections);
}

void RemoteMemory::know(std::vector<std::vector<std::byte>> addresses) {
    peers_.clear();
    peers_.resize(addresses.size());
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) peers_[rank].address = std::move(addresses[rank]);
}

// -- which way --

void RemoteMemory::rule_out(Peer& peer, const std::string& why) {
    for (Way& way : peer.ways) way = {Way::State::ruled_out, why};
}

ucp_ep_h RemoteMemory::connection(Peer& to, ucp_err_handling_mode_t mode) {
    ucp_ep_params_t parameters{};
    parameters.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    parameters.address = reinterpret_cast<const ucp_address_t*>(to.address.data());
    parameters.err_mode = mode;
    // A peer that has ended must not end this process from inside UCX. Its data go by messages from now on, which
    // notice its end.
    parameters.err_handler.cb = [](void* peer, ucp_ep_h, ucs_status_t status) {
        rule_out(*static_cast<Peer*>(peer), ucs_status_string(status));
    };
    parameters.err_handler.arg = &to;
    ucp_ep_h made = nullptr;
    return ucp_ep_create(worker_.get(), &parameters, &made) == UCS_OK ? made : nullptr;
}

/// UCX's shared memory does not notice the end of a peer, and connects only to a program that does not ask for that.
void RemoteMemory::connect(int rank) {
    Peer& to = peer(rank);
    if (std::exchange(to.is_tried, true)) return;
    if (to.address.empty()) return rule_out(to, fmt::format("rank {} has no network that does", rank));
    to.endpoint = connection(to, UCP_ERR_HANDLING_MODE_PEER);
    if (to.endpoint == nullptr) to.endpoint = connection(to, UCP_ERR_HANDLING_MODE_NONE);
    if (to.endpoint == nullptr) return rule_out(to, fmt::format("UCX reaches rank {} by no network that does", rank));
    std::vector<std::string> transports;
    for (const Lane& lane : lanes_of(to.endpoint)) transports.push_back(lane.transport);
    if (std::ranges::none_of(transports, writes_itself))
        rule_out(to, fmt::format("UCX {} reaches rank {} by {}, which does not write memory that UCX has not allocated",
                                 ucp_get_version_string(), rank, fmt::join(transports, ", ")));
}

/// Only the first transfer shows how UCX carries it out: it decides by the connection, the memory and the operation.
/// That transfer is correct in any case; an emulated one only takes the target's processor, as a message would. If it
/// has ended at once, there is no request to ask about. (UCX can be told to make one, but UCX 1.16.0 then moves
/// nothing.)
void RemoteMemory::judge(Peer& peer, Direction direction, void* request) {
    Way& way = peer.way(direction);
    const std::string protocol = UCS_PTR_IS_PTR(request) ? protocol_of(request) : std::string();
    if (!protocol.empty()) {
        const bool emulates = protocol.find("emulation") != protocol.npos;
        way = {emulates ? Way::State::ruled_out : Way::State::proven, "UCX says: " + protocol};
        return;
    }
    const auto lanes = lanes_of(peer.endpoint);
    const auto found =
        std::ranges::find_if(lanes, [](const Lane& each) { return each.for_puts && writes_itself(each.transport); });
    if (found != lanes.end()) way = {Way::State::proven, "UCX uses " + found->transport};
    else way = {Way::State::ruled_out, fmt::format("UCX {} emulates {}", ucp_get_version_string(), name_of(direction))};
}

Route RemoteMemory::route(int rank, Direction direction) {
    connect(rank);
    const Way& way = peer(rank).way(direction);
    return {way.state != Way::State::ruled_out, way.why};
}

// -- memory --

std::vector<std::byte> RemoteMemory::share(std::span<std::byte> memory) {
    ucp_mem_map_params_t wanted{};
    wanted.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    wanted.address = memory.data();
    wanted.length = memory.size();
    ucp_mem_h mapped = nullptr;
    if (ucp_mem_map(context_.get(), &wanted, &mapped) != UCS_OK) return {};
    Mapped owned(mapped, {context_.get()});
    void* packed = nullptr;
    std::size_t length = 0;
    if (ucp_rkey_pack(context_.get(), mapped, &packed, &length) != UCS_OK) return {};
    const auto* begin = static_cast<const std::byte*>(packed);
    std::vector<std::byte> key(begin, begin + length);
    ucp_rkey_buffer_release(packed);
    shared_.insert_or_assign(memory.data(), std::move(owned));
    return key;
}

void RemoteMemory::withdraw(const std::byte* memory) { shared_.erase(memory); }

std::shared_ptr<Transport::Window> RemoteMemory::open_window(int rank, std::span<const std::byte> key) {
    connect(rank);
    if (key.empty() || peer(rank).endpoint == nullptr) return nullptr;
    ucp_rkey_h unpacked = nullptr;
    if (ucp_ep_rkey_unpack(peer(rank).endpoint, key.data(), &unpacked) != UCS_OK) return nullptr;
    auto made = std::make_shared<Window>();
    made->rank = rank;
    made->key.reset(unpacked);
    return made;
}

// -- transfers --

Begun RemoteMemory::begin(Transport::Window& window, Direction direction, std::uint64_t there,
                          std::span<std::byte> here, std::uint64_t ticket) {
    const auto& to = static_cast<Window&>(window);
    Peer& peer = this->peer(to.rank);
    if (peer.way(direction).state == Way::State::ruled_out) return Begun::refused;
    auto operation = std::make_unique<Operation>(Operation{this, &peer, direction, ticket});
    void* const request = move(*operation, direction, to, there, here);
    if (peer.way(direction).state == Way::State::open) judge(peer, direction, request);
    await(*operation, request);
    // A put is complete here when its source may change; the flush is complete when the data are there.
    if (direction == Direction::put && !operation->failed) {
        ucp_request_param_t parameters{};
        parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        parameters.cb.send = ended;
        parameters.user_data = operation.get();
        await(*operation, ucp_ep_flush_nbx(peer.endpoint, &parameters));
    }
    if (--operation->open > 0) {
        static_cast<void>(operation.release());
        return Begun::under_way;
    }
    return operation->failed ? Begun::refused : Begun::complete;
}

void* RemoteMemory::move(Operation& operation, Direction direction, const Window& window, std::uint64_t there,
                         std::span<std::byte> here) {
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    parameters.cb.send = ended;
    parameters.user_data = &operation;
    const ucp_ep_h to = operation.peer->endpoint;
    if (direction == Direction::put)
        return ucp_put_nbx(to, here.data(), here.size(), there, window.key.get(), &parameters);
    return ucp_get_nbx(to, here.data(), here.size(), there, window.key.get(), &parameters);
}

/// Counts the request among those that the operation waits for, unless it has ended.
void RemoteMemory::await(Operation& operation, void* request) {
    if (UCS_PTR_IS_PTR(request)) ++operation.open;
    else settle(operation, UCS_PTR_STATUS(request));
}

void RemoteMemory::settle(Operation& operation, ucs_status_t status) {
    if (status == UCS_OK) return;
    operation.failed = true;
    operation.peer->way(operation.direction) = {
        Way::State::ruled_out,
        fmt::format("{} have failed: {}", name_of(operation.direction), ucs_status_string(status))};
}

void RemoteMemory::ended(void* request, ucs_status_t status, void* given) {
    auto* const operation = static_cast<Operation*>(given);
    ucp_request_free(request);
    settle(*operation, status);
    if (--operation->open > 0) return;
    const std::unique_ptr<Operation> last(operation);
    if (last->owner->moved_) last->owner->moved_(last->ticket, !last->failed);
}

} // namespace kumiki::fabric::ucx
