#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/network/transport.hpp"
#include "fabric/ucx/common.hpp"

namespace kumiki::fabric::ucx {

/// Writes and reads the memory of other ranks by the network itself, where it can (docs/decisions/remote-writes.md).
///
/// This has a context and a worker of its own, which never use TCP. Where a network does not write memory itself, UCX
/// emulates puts by messages that name an address, and the worker of the target believes any such message, from
/// whomever it comes. So a worker that others can reach by TCP must not know these operations at all.
///
/// Not thread-safe.
class RemoteMemory {
public:
    /// Reports that a transfer has ended, and whether the data are there.
    using Moved = std::function<void(std::uint64_t ticket, bool succeeded)>;

    /// Fails with the reason when this machine has no suitable network.
    static Result<std::unique_ptr<RemoteMemory>> open(const std::string& interface, Moved moved);
    ~RemoteMemory();
    RemoteMemory(const RemoteMemory&) = delete;
    RemoteMemory& operator=(const RemoteMemory&) = delete;

    const std::vector<std::byte>& address() const { return address_; }
    /// The addresses of all ranks; an empty one belongs to a rank that has no suitable network.
    void know(std::vector<std::vector<std::byte>> addresses);

    Transport::Route route(int rank, Transport::Direction direction);
    std::vector<std::byte> share(std::span<std::byte> memory);
    void withdraw(const std::byte* memory);
    std::shared_ptr<Transport::Window> open_window(int rank, std::span<const std::byte> key);
    Transport::Begun begin(Transport::Window& window, Transport::Direction direction, std::uint64_t there,
                           std::span<std::byte> here, std::uint64_t ticket);

    bool progress() { return ucp_worker_progress(worker_.get()) != 0; }
    int descriptor() const { return descriptor_; }
    bool arm() { return ucp_worker_arm(worker_.get()) == UCS_OK; }

private:
    /// What is known of the way to one rank, for one direction.
    struct Way {
        enum class State : std::uint8_t { open, proven, ruled_out } state = State::open;
        std::string why;
    };
    struct Peer {
        std::vector<std::byte> address;
        bool is_tried = false; ///< whether a connection has been tried
        ucp_ep_h endpoint = nullptr;
        std::array<Way, 2> ways; ///< by direction
        Way& way(Transport::Direction direction) { return ways[static_cast<std::size_t>(direction)]; }
    };
    struct Window;
    struct Operation;
    struct Unmap {
        ucp_context_h context;
        void operator()(ucp_mem_h memory) const { ucp_mem_unmap(context, memory); }
    };
    using Mapped = std::unique_ptr<std::remove_pointer_t<ucp_mem_h>, Unmap>;

    explicit RemoteMemory(Moved moved) : moved_(std::move(moved)) {}
    Result<> start(const std::string& interface);
    Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
    void connect(int rank);
    ucp_ep_h connection(Peer& to, ucp_err_handling_mode_t mode);
    static void rule_out(Peer& peer, const std::string& why);
    static void judge(Peer& peer, Transport::Direction direction, void* request);
    static void* move(Operation& operation, Transport::Direction direction, const Window& window, std::uint64_t there,
                      std::span<std::byte> here);
    static void await(Operation& operation, void* request);
    static void ended(void* request, ucs_status_t status, void* operation);
    static void settle(Operation& operation, ucs_status_t status);

    Moved moved_;
    Owned<ucp_context_h> context_;
    Owned<ucp_worker_h> worker_;
    std::vector<std::byte> address_;
    int descriptor_ = -1;
    std::vector<Peer> peers_; ///< by rank
    std::map<const std::byte*, Mapped> shared_;
};

} // namespace kumiki::fabric::ucx
