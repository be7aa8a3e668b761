#include "fabric/network/transport.hpp"

#include <cstdlib>

#include "fabric/module.hpp"

namespace kumiki::fabric {
namespace {

constexpr Module engine{.file = "kumiki-ucx.so",
                        .function = "kumiki_open_transport",
                        .needed = "this job has ranks on several hosts, which are reached over a network by UCX",
                        .to_build = "libucx-dev",
                        .to_run = "libucx0"};

Result<void*> load_engine(Calls calls) {
    // When UCX is loaded it installs handlers that print a backtrace of a crash. They allocate memory, so a rank that
    // crashes inside malloc would hang instead of dying, and they take the faults of shared arrays.
    constexpr int keep_the_users = 0;
    setenv("UCX_HANDLE_ERRORS", "none", keep_the_users);
    return load(engine, calls);
}

} // namespace

Result<> load_transport_apart() {
    if (auto loaded = load_engine(Calls::libraries_first); !loaded) return tl::unexpected(loaded.error());
    return {};
}

Result<std::shared_ptr<Transport>> open_transport(const std::string& interface, const Key& key,
                                                  Transport::Events events) {
    const auto function = load_engine(Calls::program_first);
    if (!function) return tl::unexpected(function.error());
    auto opened = reinterpret_cast<OpenTransport>(*function)(interface, key, std::move(events));
    if (!opened) return tl::unexpected(opened.error());
    return std::shared_ptr<Transport>(std::move(*opened));
}

} // namespace kumiki::fabric
