// A stranger: an unmodified libucp that knows address and port of a rank, and how Kumiki's messages are made, but no
// key.
//
//   stranger OWN-ADDRESS ADDRESS PORT change|guess|crash
//
// change: writes four words into the region at the beginning of the arena; guess: the same with a key of zeros; crash:
// messages with wild fields, without a header, and of UCX's other protocol.
#include <arpa/inet.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <ucp/api/ucp.h>
#include <vector>

namespace {

[[noreturn]] void give_up(const char* why) {
    std::fprintf(stderr, "stranger: %s\n", why);
    std::exit(2);
}

void need(ucs_status_t status, const char* what) {
    if (status != UCS_OK) give_up(what);
}

/// As in src/fabric/network/transport.hpp.
struct Header {
    std::uint8_t kind = 0; // a put
    std::uint8_t operation = 0xff;
    std::int32_t source = 1;
    std::uint64_t offset = 0, bytes = 32, signal = 0, value = 0, ticket = 0;
};
struct Sealed {
    std::uint64_t key[2] = {0, 0};
    Header header;
};

ucp_worker_h new_worker(ucp_context_h context) {
    ucp_worker_params_t parameters{};
    ucp_worker_h worker = nullptr;
    need(ucp_worker_create(context, &parameters, &worker), "no worker");
    return worker;
}

/// The ports on which this process listens, in the byte order of an address.
std::vector<in_port_t> own_ports() {
    std::ifstream table("/proc/self/net/tcp");
    std::vector<in_port_t> ports;
    std::string line, place, local, remote, state;
    std::getline(table, line);
    while (std::getline(table, line)) {
        std::istringstream(line) >> place >> local >> remote >> state;
        constexpr std::string_view listening = "0A";
        if (state == listening)
            ports.push_back(
                htons(static_cast<std::uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16))));
    }
    return ports;
}

/// Whether the old bytes were there, once: an address has random parts, too, which may have the two bytes of a port.
bool replace(std::string& text, const void* old_bytes, const void* new_bytes, std::size_t count) {
    const std::string_view wanted(static_cast<const char*>(old_bytes), count);
    const auto place = text.find(wanted);
    if (place == text.npos || text.find(wanted, place + 1) != text.npos) return false;
    text.replace(place, count, static_cast<const char*>(new_bytes), count);
    return true;
}

std::string address_of(ucp_worker_h worker) {
    ucp_address_t* packed = nullptr;
    std::size_t length = 0;
    need(ucp_worker_get_address(worker, &packed, &length), "no address");
    return {reinterpret_cast<const char*>(packed), length};
}

/// The address of a worker of this process, changed to another host and port.
std::string address_of(ucp_context_h context, const char* own, const char* host, int port) {
    in_addr from{}, to{};
    inet_pton(AF_INET, own, &from);
    inet_pton(AF_INET, host, &to);
    const in_port_t wanted = htons(static_cast<std::uint16_t>(port));
    for (int tries = 0; tries < 10; ++tries) {
        const ucp_worker_h example = new_worker(context);
        std::string text = address_of(example);
        const auto ports = own_ports();
        ucp_worker_destroy(example);
        if (!replace(text, &from, &to, sizeof from)) give_up("its own address is not in the address");
        for (const in_port_t own_port : ports)
            if (replace(text, &own_port, &wanted, sizeof wanted)) return text;
    }
    give_up("its own port is not in the address once");
}

class Stranger {
public:
    Stranger(const char* own, const char* host, int port) {
        ucp_config_t* config = nullptr;
        need(ucp_config_read(nullptr, nullptr, &config), "no settings");
        ucp_config_modify(config, "TLS", "tcp");
        ucp_config_modify(config, "NET_DEVICES", "eth0");
        ucp_params_t wanted{};
        wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
        wanted.features = UCP_FEATURE_AM;
        ucp_context_h context = nullptr;
        need(ucp_init(&wanted, config, &context), "no context");
        const auto address = address_of(context, own, host, port);
        worker_ = new_worker(context);
        ucp_ep_params_t parameters{};
        parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
        parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
        need(ucp_ep_create(worker_, &parameters, &endpoint_), "no endpoint");
    }

    void send(const void* header, std::size_t header_bytes, std::size_t payload, unsigned flags) {
        static const std::vector<std::uint64_t> words(1 << 17, 0xdead);
        ucp_request_param_t parameters{};
        parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        parameters.flags = flags;
        void* request = ucp_am_send_nbx(endpoint_, 1, header, header_bytes, words.data(), payload, &parameters);
        // The first message has to wait for its connection.
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(connected_ ? 20 : 1000);
        connected_ = true;
        while (std::chrono::steady_clock::now() < end)
            if (ucp_worker_progress(worker_) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (UCS_PTR_IS_ERR(request)) std::puts("not sent: the connection has gone");
    }

private:
    ucp_worker_h worker_ = nullptr;
    ucp_ep_h endpoint_ = nullptr;
    bool connected_ = false;
};

void crash(Stranger& stranger) {
    Header wild;
    for (const std::uint64_t number : {std::uint64_t{1} << 47, ~std::uint64_t{0}, std::uint64_t{12345}})
        for (std::uint8_t kind = 0; kind < 16; ++kind) {
            wild = {.kind = kind, .operation = 0, .source = 1, .offset = number, .signal = number, .value = number};
            wild.ticket = number;
            if (kind % 4 == 0) wild.source = 1 << 30;
            stranger.send(&wild, sizeof wild, 64, UCP_AM_SEND_FLAG_EAGER);
        }
    stranger.send(nullptr, 0, 0, UCP_AM_SEND_FLAG_EAGER);
    stranger.send(&wild, 5, 8, UCP_AM_SEND_FLAG_EAGER);
    stranger.send(&wild, sizeof wild, 1 << 20, UCP_AM_SEND_FLAG_RNDV);
    stranger.send(&wild, sizeof wild, 1 << 20, UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY);
}

} // namespace

int main(int count, char** words) {
    if (count != 5) give_up("OWN-ADDRESS ADDRESS PORT change|guess|crash");
    Stranger stranger(words[1], words[2], std::atoi(words[3]));
    const std::string_view wish = words[4];
    const Sealed put;
    if (wish == "change") stranger.send(&put.header, sizeof put.header, 32, UCP_AM_SEND_FLAG_EAGER);
    else if (wish == "guess") stranger.send(&put, sizeof put, 32, UCP_AM_SEND_FLAG_EAGER);
    else crash(stranger);
    std::puts("sent");
    std::fflush(stdout);
    std::_Exit(0); // the other side must cope with the rest of its connections
}
