#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kumiki/kumiki.hpp"

namespace kumiki::bench {

/// A UCP endpoint between the two ranks of a job, and memory into which each may put. UCX's addresses are exchanged
/// through the job; everything that is measured afterwards is UCX. Constructing and destroying it is collective.
class UcxLink {
public:
    /// The transports that UCX may use between the two: all, or only those that reach another host. Two network
    /// namespaces of one machine are two hosts, but UCX would find the memory that they share.
    enum class Reach { anything, network };

    UcxLink(Job& job, std::size_t bytes, Reach reach = Reach::anything);
    UcxLink(const UcxLink&) = delete;
    UcxLink& operator=(const UcxLink&) = delete;
    ~UcxLink();

    int rank() const { return rank_; }
    std::span<std::byte> own() const { return own_; }

    /// Puts into the peer's memory; on return `source` may be changed.
    void put(std::size_t offset, const void* source, std::size_t bytes);
    void put_word(std::size_t offset, std::uint64_t word) { put(offset, &word, sizeof word); }
    /// Returns when all puts have arrived.
    void flush();
    /// A tagged message; on return, `data` may be changed, or have arrived.
    void send(const void* data, std::size_t bytes);
    void receive(void* data, std::size_t bytes);
    /// Messages of one word each; all are started before any is completed.
    void send_many(std::span<const std::uint64_t> words);
    void receive_many(std::span<std::uint64_t> room);
    /// Collective: returns when nothing that either rank has sent is under way. Over a network the peer must also make
    /// progress for this.
    void settle();
    /// Polls this rank's word at `offset` until it is `value`, making progress.
    void await_word(std::size_t offset, std::uint64_t value);

private:
    void open(Reach reach);
    void allocate(std::size_t bytes);
    void connect(Job& job);
    /// Waits for a request that UCX did not finish at once.
    void finish(ucs_status_ptr_t request, const char* what);

    Job& job_;
    int rank_;
    Region<Signal> settled_; ///< the number of settlements that the peer has reached
    std::uint64_t settlements_ = 0;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucp_mem_h memory_ = nullptr;
    ucp_ep_h peer_ = nullptr;
    ucp_rkey_h key_ = nullptr;
    std::span<std::byte> own_;
    std::vector<ucs_status_ptr_t> requests_; ///< those of the functions *_many
    std::uint64_t there_ = 0;                ///< the beginning of the peer's memory, as an address of the peer
};

} // namespace kumiki::bench
