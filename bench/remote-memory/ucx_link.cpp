#include "bench/remote-memory/ucx_link.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/common/bare_barrier.hpp"

namespace kumiki::bench {
namespace {

void check(ucs_status_t status, const char* what) {
    if (status != UCS_OK) throw std::runtime_error(std::string("UCX: ") + what + ": " + ucs_status_string(status));
}

constexpr ucp_tag_t tag = 1; ///< of all messages

/// A setting of UCX; a setting of the user takes precedence.
void set(ucp_config_t* config, const char* name, const char* value) {
    if (std::getenv((std::string("UCX_") + name).c_str()) == nullptr)
        check(ucp_config_modify(config, name, value), "cannot change a setting");
}

/// The data that one rank sends to the other before they can communicate through UCX.
struct Card {
    static constexpr std::size_t most = 8192;
    std::uint64_t memory;
    std::size_t address_bytes, key_bytes;
    std::array<std::byte, most> address, key;
};

std::size_t copy_to(std::array<std::byte, Card::most>& place, const void* data, std::size_t bytes) {
    if (bytes > place.size())
        throw std::runtime_error("UCX: an address of " + std::to_string(bytes) + " bytes is too long to exchange");
    std::memcpy(place.data(), data, bytes);
    return bytes;
}

} // namespace

UcxLink::UcxLink(Job& job, std::size_t bytes, Reach reach)
    : job_(job), rank_(job.rank()), settled_(job.allocate<Signal>(1)) {
    open(reach);
    allocate(bytes);
    connect(job);
}

void UcxLink::open(Reach reach) {
    ucp_config_t* read = nullptr;
    check(ucp_config_read(nullptr, nullptr, &read), "cannot read its settings");
    const std::unique_ptr<ucp_config_t, decltype(&ucp_config_release)> config(read, ucp_config_release);
    if (reach == Reach::network) {
        set(read, "TLS", "^sm");
        if (const char* interface = std::getenv("KUMIKI_INTERFACE"); interface != nullptr && *interface != '\0')
            set(read, "NET_DEVICES", interface);
    }
    ucp_params_t wanted{};
    wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
    wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_TAG;
    check(ucp_init(&wanted, read, &context_), "cannot start");
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    check(ucp_worker_create(context_, &worker, &worker_), "cannot create a worker");
}

void UcxLink::allocate(std::size_t bytes) {
    ucp_mem_map_params_t wanted{};
    wanted.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    wanted.length = bytes;
    wanted.flags = UCP_MEM_MAP_ALLOCATE; // UCX chooses memory that its own shared-memory transports can map
    check(ucp_mem_map(context_, &wanted, &memory_), "cannot allocate memory");
    ucp_mem_attr_t found{};
    found.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(memory_, &found), "cannot ask where its memory is");
    own_ = {static_cast<std::byte*>(found.address), bytes};
    std::memset(own_.data(), 0, own_.size());
}

void UcxLink::connect(Job& job) {
    auto cards = job.allocate<Card>(1);
    Card mine{};
    mine.memory = reinterpret_cast<std::uint64_t>(own_.data());

    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    check(ucp_worker_get_address(worker_, &address, &length), "cannot tell the worker's address");
    mine.address_bytes = copy_to(mine.address, address, length);
    ucp_worker_release_address(worker_, address);

    void* packed = nullptr;
    check(ucp_rkey_pack(context_, memory_, &packed, &length), "cannot pack a memory key");
    mine.key_bytes = copy_to(mine.key, packed, length);
    ucp_rkey_buffer_release(packed);

    job.put(1 - rank_, cards[0], mine);
    job.barrier();
    const Card& theirs = cards[0];
    there_ = theirs.memory;
    ucp_ep_params_t wanted{};
    wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    wanted.address = reinterpret_cast<const ucp_address_t*>(theirs.address.data());
    check(ucp_ep_create(worker_, &wanted, &peer_), "cannot connect");
    check(ucp_ep_rkey_unpack(peer_, theirs.key.data(), &key_), "cannot unpack a memory key");
    settle();
}

UcxLink::~UcxLink() {
    if (key_ != nullptr) ucp_rkey_destroy(key_);
    if (peer_ != nullptr) {
        ucp_request_param_t none{};
        const ucs_status_ptr_t closing = ucp_ep_close_nbx(peer_, &none);
        if (UCS_PTR_IS_PTR(closing)) {
            while (ucp_request_check_status(closing) == UCS_INPROGRESS) ucp_worker_progress(worker_);
            ucp_request_free(closing);
        }
    }
    if (memory_ != nullptr) ucp_mem_unmap(context_, memory_);
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    if (context_ != nullptr) ucp_cleanup(context_);
}

void UcxLink::put(std::size_t offset, const void* source, std::size_t bytes) {
    static constexpr ucp_request_param_t none{};
    const ucs_status_ptr_t request = ucp_put_nbx(peer_, source, bytes, there_ + offset, key_, &none);
    if (request != nullptr) finish(request, "a put failed");
}

void UcxLink::flush() {
    ucp_request_param_t none{};
    const ucs_status_ptr_t request = ucp_ep_flush_nbx(peer_, &none);
    if (request != nullptr) finish(request, "a flush failed");
}

void UcxLink::send(const void* data, std::size_t bytes) {
    static constexpr ucp_request_param_t none{};
    const ucs_status_ptr_t request = ucp_tag_send_nbx(peer_, data, bytes, tag, &none);
    if (request != nullptr) finish(request, "a message cannot be sent");
}

void UcxLink::receive(void* data, std::size_t bytes) {
    static constexpr ucp_request_param_t none{};
    const ucs_status_ptr_t request = ucp_tag_recv_nbx(worker_, data, bytes, tag, ~ucp_tag_t{0}, &none);
    if (request != nullptr) finish(request, "a message cannot be received");
}

void UcxLink::send_many(std::span<const std::uint64_t> words) {
    static constexpr ucp_request_param_t none{};
    requests_.clear();
    for (const std::uint64_t& word : words)
        requests_.push_back(ucp_tag_send_nbx(peer_, &word, sizeof word, tag, &none));
    for (const ucs_status_ptr_t request : requests_)
        if (request != nullptr) finish(request, "a message cannot be sent");
}

void UcxLink::receive_many(std::span<std::uint64_t> room) {
    static constexpr ucp_request_param_t none{};
    requests_.clear();
    for (std::uint64_t& word : room)
        requests_.push_back(ucp_tag_recv_nbx(worker_, &word, sizeof word, tag, ~ucp_tag_t{0}, &none));
    for (const ucs_status_ptr_t request : requests_)
        if (request != nullptr) finish(request, "a message cannot be received");
}

void UcxLink::settle() {
    flush();
    ++settlements_;
    job_.signal(1 - rank_, settled_[0], settlements_);
    while (Word(settled_[0]).load(std::memory_order_acquire) < settlements_) {
        ucp_worker_progress(worker_);
        job_.progress();
    }
}

void UcxLink::finish(ucs_status_ptr_t request, const char* what) {
    if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), what);
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) ucp_worker_progress(worker_);
    ucp_request_free(request);
    check(status, what);
}

void UcxLink::await_word(std::size_t offset, std::uint64_t value) {
    auto& word = *reinterpret_cast<std::uint64_t*>(own_.data() + offset);
    while (Word(word).load(std::memory_order_acquire) != value) ucp_worker_progress(worker_);
}

} // namespace kumiki::bench
