// The network engine: UCX. Each rank has one worker for messages, each of which is an eager active message of UCP. Over
// TCP puts are messages, too, instead of UCP's puts, because those cost an additional round trip
// (docs/decisions/network.md). Networks that write remote memory themselves are used by RemoteMemory.
#include "fabric/network/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <thread>
#include <ucs/config/global_opts.h>
#include <unistd.h>

#include "fabric/ucx/common.hpp"
#include "fabric/ucx/description.hpp"
#include "fabric/ucx/remote_memory.hpp"

namespace kumiki::fabric {
namespace {

using ucx::failure;
using ucx::has_gone;
using ucx::Owned;
using ucx::set;

/// TCP hands a network card with segmentation offload units of at most 64 KiB, 45 packets of 1448 bytes. A burst fills
/// one with its headers, and a slightly longer message costs nearly twice as much.
constexpr Transport::Limits over_tcp{.burst = 65024, .part = std::size_t{2} * 65024};
/// Other networks have no such unit.
constexpr Transport::Limits elsewhere{.burst = std::size_t{64} << 10, .part = std::size_t{128} << 10};

class UcxTransport final : public Transport {
public:
    UcxTransport(const Key& key, Events events) : key_(key), events_(std::move(events)) {}
    ~UcxTransport() override;

    Result<> open(const std::string& interface);

    Limits limits() const override { return limits_; }
    std::vector<std::byte> address() const override;
    void know(std::vector<Peer> peers) override;
    Result<> send(int rank, const MessageHeader& header, std::span<const std::byte> payload) override;
    Result<> give(int rank, const MessageHeader& header, std::vector<std::byte> payload) override;
    Result<bool> post(int rank, const MessageHeader& header, std::span<const std::byte> payload,
                      std::uint64_t ticket) override;
    bool progress() override {
        const bool received = ucp_worker_progress(worker_.get()) != 0;
        return (remote_memory_ && remote_memory_->progress()) || received;
    }
    int descriptor() const override { return descriptor_; }
    bool arm() override {
        return ucp_worker_arm(worker_.get()) == UCS_OK && (!remote_memory_ || remote_memory_->arm());
    }
    std::optional<Failed> failed() const override;
    bool is_connected(int rank) const override {
        const Connection& to = connections_[static_cast<std::size_t>(rank)];
        return to.endpoint != nullptr && to.status == UCS_OK;
    }
    void drain() override;

    Route route(int rank, Direction direction) override {
        return remote_memory_ ? remote_memory_->route(rank, direction) : Route{false, without_remote_memory_};
    }
    std::vector<std::byte> share(std::span<std::byte> memory) override {
        return remote_memory_ ? remote_memory_->share(memory) : std::vector<std::byte>();
    }
    void withdraw(const std::byte* memory) override {
        if (remote_memory_) remote_memory_->withdraw(memory);
    }
    std::shared_ptr<Window> open_window(int rank, std::span<const std::byte> key) override {
        return remote_memory_ ? remote_memory_->open_window(rank, key) : nullptr;
    }
    Begun begin(Window& window, Direction direction, std::uint64_t there, std::span<std::byte> here,
                std::uint64_t ticket) override {
        return remote_memory_->begin(window, direction, there, here, ticket);
    }

private:
    static constexpr unsigned message = 1; ///< the only active message id in use
    /// The most bytes kept for one rank; beyond it a sender waits, so that a slow receiver does not fill this memory.
    static constexpr std::size_t most_kept = std::size_t{4} << 20;

    /// Travels before the payload. Every message carries the key, not only the first of a connection, because UCX does
    /// not tell over which connection a message arrived.
    struct Sealed {
        Key key;
        MessageHeader header;
    };
    /// A message in flight from this rank: UCX reads header and payload when there is room.
    struct Posted {
        UcxTransport* transport = nullptr;
        Sealed sealed;
        std::vector<std::byte> kept; ///< the payload, unless the caller owns it
        int rank = 0;
        std::uint64_t ticket = 0;
        ucs_status_t* outcome = nullptr; ///< where the waiting sender expects the result
    };

    struct Connection {
        ucp_ep_h endpoint = nullptr; ///< null: not connected yet
        std::size_t kept = 0;        ///< bytes of messages waiting for room
        ucs_status_t status = UCS_OK;
    };

    Connection& connection(int rank) { return connections_[static_cast<std::size_t>(rank)]; }
    std::unique_ptr<Posted> prepare(int rank, const MessageHeader& header, std::uint64_t ticket);
    Result<bool> hand_over(std::unique_ptr<Posted> message, std::span<const std::byte> payload);
    static void has_left(void* request, ucs_status_t, void* posted);
    void make_room(int rank);
    void receive_meanwhile();
    Result<> configure(ucp_config_t* config, const std::string& interface);
    Result<> receive_messages();
    void open_remote_memory(const std::string& interface);
    Result<> join_descriptors();
    Result<ucp_ep_h> endpoint(int rank);
    static ucs_status_t received(void* self, const void* header, size_t header_bytes, void* data, size_t bytes,
                                 const ucp_am_recv_param_t* parameters);

    Key key_;
    Events events_;
    Owned<ucp_context_h> context_;
    Owned<ucp_worker_h> worker_;
    Limits limits_ = over_tcp;
    std::vector<std::byte> address_; ///< of the worker
    int descriptor_ = -1;
    int joined_ = -1;                                  ///< the same, when it stands for several
    std::unique_ptr<ucx::RemoteMemory> remote_memory_; ///< null: messages carry everything
    std::string without_remote_memory_;                ///< the reason for null
    std::vector<Peer> peers_;
    std::vector<Connection> connections_; ///< by rank
    std::unique_ptr<Posted> spare_;       ///< reused, because most messages leave at once
};

/// Makes a setting of UCX's TCP transport. UCX 1.13 expects the names of transport settings here without their prefix
/// and accepts any name; newer versions (1.22) expect the prefix and refuse all other names.
Result<> set_for_tcp(ucp_config_t* config, const std::string& name, const std::string& value) {
    if (std::getenv(("UCX_TCP_" + name).c_str()) != nullptr) return {};
    if (auto done = set(config, ("TCP_" + name).c_str(), value); !done) return done;
    static_cast<void>(set(config, name.c_str(), value));
    return {};
}

Result<> UcxTransport::configure(ucp_config_t* config, const std::string& interface) {
    // Kumiki itself handles communication within a host; two network namespaces of one machine are two hosts.
    if (auto done = set(config, "TLS", "^sm"); !done) return done;
    if (!interface.empty())
        if (auto done = set(config, "NET_DEVICES", interface); !done) return done;
    // A call must not block in connect() for a host that is cut off, because meanwhile this rank would neither send
    // heartbeats nor notice missing ones.
    if (auto done = set_for_tcp(config, "CONN_NB", "y"); !done) return done;
    // A part must fit one segment; otherwise UCX would allocate memory for the whole and assemble two pieces there.
    if (auto done = set_for_tcp(config, "TX_SEG_SIZE", "160k"); !done) return done;
    return set_for_tcp(config, "RX_SEG_SIZE", "320k");
}

Result<> UcxTransport::open(const std::string& interface) {
    const auto config = ucx::read_settings();
    if (!config) return tl::unexpected(config.error());
    if (auto done = configure(config->get(), interface); !done) return done;
    // Ranks leave at different times, so the end of a connection is expected then. Lost ranks are detected by missing
    // heartbeats.
    if (std::getenv("UCX_LOG_LEVEL") == nullptr) ucs_global_opts_set_value("LOG_LEVEL", "fatal");
    auto context = ucx::make_context(config->get(), UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
                                     interface.empty() ? "start" : "start on the interface " + interface);
    if (!context) return tl::unexpected(context.error());
    context_ = std::move(*context);
    if (auto found = ucx::expect_interface(context_.get(), interface); !found) return found;
    if (std::ranges::any_of(ucx::transports_of(context_.get()), ucx::is_fast_network)) limits_ = elsewhere;
    auto worker = ucx::make_worker(context_.get());
    if (!worker) return tl::unexpected(worker.error());
    worker_ = std::move(*worker);
    if (auto done = receive_messages(); !done) return done;
    if (const auto status = ucp_worker_get_efd(worker_.get(), &descriptor_); status != UCS_OK)
        return tl::unexpected(failure("wake a thread that waits", status));
    auto address = ucx::address_of(worker_.get());
    if (!address) return tl::unexpected(address.error());
    address_ = std::move(*address);
    open_remote_memory(interface);
    return remote_memory_ ? join_descriptors() : Result<>();
}

Result<> UcxTransport::receive_messages() {
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                         UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
    handler.id = message;
    handler.cb = received;
    handler.arg = this;
    handler.flags = UCP_AM_FLAG_WHOLE_MSG;
    if (const auto status = ucp_worker_set_am_recv_handler(worker_.get(), &handler); status != UCS_OK)
        return tl::unexpected(failure("receive messages", status));
    return {};
}

void UcxTransport::open_remote_memory(const std::string& interface) {
    auto opened = ucx::RemoteMemory::open(interface, [this](std::uint64_t ticket, bool succeeded) {
        if (events_.moved) events_.moved(ticket, succeeded);
    });
    if (opened) remote_memory_ = std::move(*opened);
    else without_remote_memory_ = opened.error().message;
}

/// A descriptor that is readable when that of either worker is.
Result<> UcxTransport::join_descriptors() {
    joined_ = epoll_create1(EPOLL_CLOEXEC);
    epoll_event readable{};
    readable.events = EPOLLIN;
    for (const int each : {descriptor_, remote_memory_->descriptor()})
        if (joined_ < 0 || epoll_ctl(joined_, EPOLL_CTL_ADD, each, &readable) != 0)
            return tl::unexpected(failure("wait for two workers", UCS_ERR_IO_ERROR));
    descriptor_ = joined_;
    return {};
}

UcxTransport::~UcxTransport() {
    if (joined_ >= 0) ::close(joined_);
    if (!worker_) return;
    events_ = {}; // the receiver of events may no longer exist
    std::vector<ucp_ep_h> open;
    for (const Connection& each : connections_) open.push_back(each.endpoint);
    ucx::close(worker_.get(), open);
}

// -- addresses: that of the worker, and that of the remote memory, which may be empty --

std::vector<std::byte> UcxTransport::address() const {
    const std::uint64_t length = address_.size();
    std::span<const std::byte> memory;
    if (remote_memory_) memory = remote_memory_->address();
    std::vector<std::byte> both(sizeof length + address_.size() + memory.size());
    auto end = std::ranges::copy(std::as_bytes(std::span(&length, 1)), both.begin()).out;
    end = std::ranges::copy(address_, end).out;
    std::ranges::copy(memory, end);
    return both;
}

void UcxTransport::know(std::vector<Peer> peers) {
    std::vector<std::vector<std::byte>> memories;
    for (Peer& each : peers) {
        std::uint64_t length = 0;
        std::memcpy(&length, each.address.data(), sizeof length);
        const auto begin = each.address.begin() + sizeof length;
        const auto end = begin + static_cast<std::ptrdiff_t>(length);
        memories.emplace_back(end, each.address.end());
        each.address = std::vector(begin, end);
    }
    peers_ = std::move(peers);
    connections_.assign(peers_.size(), {});
    if (remote_memory_) remote_memory_->know(std::move(memories));
}

Result<ucp_ep_h> UcxTransport::endpoint(int rank) {
    ucp_ep_h& known = connection(rank).endpoint;
    if (known != nullptr) return known;
    ucp_ep_params_t parameters{};
    parameters.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    parameters.address = reinterpret_cast<const ucp_address_t*>(peers_[static_cast<std::size_t>(rank)].address.data());
    // A peer that has ended must not end this process from inside UCX; see open(). The failure of the connection is
    // recorded.
    parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    parameters.err_handler.cb = [](void* failing, ucp_ep_h, ucs_status_t status) {
        static_cast<Connection*>(failing)->status = status;
    };
    parameters.err_handler.arg = &connection(rank);
    if (const auto status = ucp_ep_create(worker_.get(), &parameters, &known); status != UCS_OK) {
        known = nullptr;
        return tl::unexpected(failure(fmt::format("connect to rank {}", rank), status));
    }
    return known;
}

std::unique_ptr<UcxTransport::Posted> UcxTransport::prepare(int rank, const MessageHeader& header,
                                                            std::uint64_t ticket) {
    auto made = spare_ ? std::move(spare_) : std::make_unique<Posted>();
    made->transport = this;
    made->sealed = {peers_[static_cast<std::size_t>(rank)].key, header};
    made->kept.clear();
    made->rank = rank;
    made->ticket = ticket;
    made->outcome = nullptr;
    return made;
}

/// Returns true when the message has left.
Result<bool> UcxTransport::hand_over(std::unique_ptr<Posted> posted, std::span<const std::byte> payload) {
    auto to = endpoint(posted->rank);
    if (!to) return tl::unexpected(to.error());
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    parameters.flags = UCP_AM_SEND_FLAG_EAGER;
    parameters.cb.send = has_left;
    parameters.user_data = posted.get();
    void* request = ucp_am_send_nbx(*to, message, &posted->sealed, sizeof posted->sealed, payload.data(),
                                    payload.size(), &parameters);
    if (UCS_PTR_IS_ERR(request) && !has_gone(UCS_PTR_STATUS(request)))
        return tl::unexpected(failure(fmt::format("send to rank {}", posted->rank), UCS_PTR_STATUS(request)));
    if (!UCS_PTR_IS_PTR(request)) {
        spare_ = std::move(posted);
        return true;
    }
    connection(posted->rank).kept += posted->kept.size();
    static_cast<void>(posted.release());
    return false;
}

void UcxTransport::has_left(void* request, ucs_status_t status, void* posted) {
    const std::unique_ptr<Posted> message(static_cast<Posted*>(posted));
    UcxTransport& self = *message->transport;
    self.connection(message->rank).kept -= message->kept.size();
    ucp_request_free(request);
    if (message->outcome != nullptr) *message->outcome = status;
    if (message->ticket != 0 && self.events_.left) self.events_.left(message->sealed.header, message->ticket);
}

/// The peer may need this core to receive or to connect.
void UcxTransport::receive_meanwhile() {
    if (events_.waiting) events_.waiting();
    if (ucp_worker_progress(worker_.get()) == 0) std::this_thread::yield();
}

void UcxTransport::make_room(int rank) {
    while (connection(rank).kept > most_kept) receive_meanwhile();
}

Result<> UcxTransport::send(int rank, const MessageHeader& header, std::span<const std::byte> payload) {
    make_room(rank);
    auto posted = prepare(rank, header, 0);
    if (payload.size() <= longest_kept) {
        posted->kept.assign(payload.begin(), payload.end());
        const std::span<const std::byte> kept = posted->kept;
        return hand_over(std::move(posted), kept).map([](bool) {});
    }
    ucs_status_t outcome = UCS_INPROGRESS;
    posted->outcome = &outcome;
    auto left = hand_over(std::move(posted), payload);
    if (!left) return tl::unexpected(left.error());
    if (*left) return {};
    while (outcome == UCS_INPROGRESS) receive_meanwhile();
    if (outcome != UCS_OK && !has_gone(outcome))
        return tl::unexpected(failure(fmt::format("send to rank {}", rank), outcome));
    return {};
}

Result<> UcxTransport::give(int rank, const MessageHeader& header, std::vector<std::byte> payload) {
    make_room(rank);
    auto posted = prepare(rank, header, 0);
    posted->kept = std::move(payload);
    const std::span<const std::byte> kept = posted->kept;
    return hand_over(std::move(posted), kept).map([](bool) {});
}

Result<bool> UcxTransport::post(int rank, const MessageHeader& header, std::span<const std::byte> payload,
                                std::uint64_t ticket) {
    return hand_over(prepare(rank, header, ticket), payload);
}

/// Anyone who can reach the port can make UCX call this with arbitrary contents, including a header that is too short,
/// or a message of the rendezvous protocol, whose `data` are not payload bytes.
ucs_status_t UcxTransport::received(void* self, const void* header, size_t header_bytes, void* data, size_t bytes,
                                    const ucp_am_recv_param_t* parameters) {
    const UcxTransport& own = *static_cast<UcxTransport*>(self);
    Sealed sealed;
    const bool is_whole = header_bytes == sizeof sealed && (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
    if (is_whole) std::memcpy(&sealed, header, sizeof sealed);
    if (!is_whole || !(sealed.key == own.key_)) {
        if (own.events_.refused) own.events_.refused();
    } else if (own.events_.received) own.events_.received(sealed.header, {static_cast<const std::byte*>(data), bytes});
    return UCS_OK;
}

std::optional<Transport::Failed> UcxTransport::failed() const {
    const auto found = std::ranges::find_if(connections_, [](const Connection& each) { return each.status != UCS_OK; });
    if (found == connections_.end()) return std::nullopt;
    return Failed{static_cast<int>(found - connections_.begin()), ucs_status_string(found->status)};
}

void UcxTransport::drain() {
    ucp_request_param_t parameters{};
    void* request = ucp_worker_flush_nbx(worker_.get(), &parameters);
    if (!UCS_PTR_IS_PTR(request)) return;
    // A peer that has ended cannot receive the rest, so this waits at most a second.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (ucp_request_check_status(request) == UCS_INPROGRESS && std::chrono::steady_clock::now() < end)
        ucp_worker_progress(worker_.get());
    ucp_request_free(request);
}

} // namespace
} // namespace kumiki::fabric

extern "C" [[gnu::visibility("default")]] kumiki::Result<std::unique_ptr<kumiki::fabric::Transport>>
kumiki_open_transport(const std::string& interface, const kumiki::fabric::Key& key,
                      kumiki::fabric::Transport::Events events) {
    auto made = std::make_unique<kumiki::fabric::UcxTransport>(key, std::move(events));
    if (auto opened = made->open(interface); !opened) return tl::unexpected(opened.error());
    return made;
}
