#include "fabric/network/transport.hpp"

#include "fabric/module.hpp"

namespace kumiki::fabric {

Result<std::shared_ptr<Transport>> open_transport(const std::string& interface, const Key& key,
                                                  Transport::Events events) {
    const auto function =
        load({.file = "kumiki-ucx.so",
              .function = "kumiki_open_transport",
              .needed = "this job has ranks on several hosts, which are reached over a network by UCX",
              .to_build = "libucx-dev",
              .to_run = "libucx0"});
    if (!function) return tl::unexpected(function.error());
    auto opened = reinterpret_cast<OpenTransport>(*function)(interface, key, std::move(events));
    if (!opened) return tl::unexpected(opened.error());
    return std::shared_ptr<Transport>(std::move(*opened));
}

} // namespace kumiki::fabric
