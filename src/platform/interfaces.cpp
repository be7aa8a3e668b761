#include "platform/interfaces.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <filesystem>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/sockets.hpp"

namespace kumiki::platform {
namespace {

/// The system's list; null when it gives none.
std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> interface_list() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) first = nullptr;
    return {first, freeifaddrs};
}

bool is_of_one_link(const sockaddr* address) {
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

/// Returns nothing if the text is not an address.
socklen_t parse(const std::string& text, sockaddr_storage& parsed) {
    constexpr in_port_t any_port = 9; // nothing is ever sent to it
    auto* four = reinterpret_cast<sockaddr_in*>(&parsed);
    auto* six = reinterpret_cast<sockaddr_in6*>(&parsed);
    if (inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(any_port);
        return sizeof *four;
    }
    if (inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(any_port);
        return sizeof *six;
    }
    return 0;
}

} // namespace

bool is_active(const std::string& interface) {
    constexpr unsigned active = IFF_UP | IFF_RUNNING;
    const auto all = interface_list();
    for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next)
        if (each->ifa_name == interface && (each->ifa_flags & active) == active) return true;
    return false;
}

std::vector<Interface> interfaces() {
    std::vector<Interface> found;
    const auto all = interface_list();
    for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
        const bool leads_out = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
        if (!leads_out || each->ifa_addr == nullptr || is_of_one_link(each->ifa_addr)) continue;
        if (const auto address = text_of(each->ifa_addr); !address.empty()) found.push_back({each->ifa_name, address});
    }
    return found;
}

std::string addresses_of(const std::vector<Interface>& interfaces) {
    std::string text;
    for (const auto& each : interfaces) text += (text.empty() ? "" : " ") + each.address;
    return text;
}

/// If the target of datagrams is named, the system chooses the route without sending anything.
std::string source_towards(const std::string& address) {
    sockaddr_storage target{};
    const socklen_t length = parse(address, target);
    if (length == 0) return {};
    const int descriptor = socket(target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return {};
    sockaddr_storage own{};
    socklen_t own_length = sizeof own;
    const bool known = connect(descriptor, reinterpret_cast<const sockaddr*>(&target), length) == 0 &&
                       getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_length) == 0;
    close(descriptor);
    return known ? text_of(reinterpret_cast<const sockaddr*>(&own)) : std::string();
}

std::vector<std::string> infiniband_ports() {
    namespace fs = std::filesystem;
    std::vector<std::string> ports;
    std::error_code none;
    for (const auto& card : fs::directory_iterator("/sys/class/infiniband", none))
        for (const auto& port : fs::directory_iterator(card.path() / "ports", none))
            ports.push_back(card.path().filename().string() + ":" + port.path().filename().string());
    std::ranges::sort(ports);
    return ports;
}

std::string interface_towards(const std::vector<std::string>& hosts, const std::vector<Interface>& own,
                              const std::function<std::string(const std::string&)>& source) {
    const auto is_own = [&](const std::string& address) {
        return std::ranges::count(own, address, &Interface::address);
    };
    const auto reaches = [&](const Interface& interface, const std::string& host) {
        std::istringstream addresses(host);
        for (std::string address; addresses >> address;)
            if (!is_own(address) && source(address) == interface.address) return true;
        return false;
    };
    for (const auto& each : own)
        if (std::ranges::all_of(hosts, [&](const std::string& host) { return reaches(each, host); })) return each.name;
    return {};
}

std::string devices_towards(const std::vector<std::string>& hosts) {
    std::string devices = hosts.empty() ? "" : interface_towards(hosts, interfaces(), source_towards);
    if (devices.empty()) return {};
    for (const auto& port : infiniband_ports()) devices += "," + port;
    return devices;
}

} // namespace kumiki::platform
