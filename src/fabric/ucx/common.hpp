#pragma once

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <type_traits>
#include <ucp/api/ucp.h>
#include <vector>

#include "error/result.hpp"

namespace kumiki::fabric::ucx {

/// UCX reports an input/output error when the process has run out of file descriptors.
inline std::string hint() {
    constexpr rlim_t plenty = 1024;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= plenty) return "";
    return fmt::format("; this rank may have {} open files, and needs one for each rank that it speaks with, and some "
                       "more: raise the limit (ulimit -n {})",
                       limit.rlim_cur, plenty);
}

inline Failure failure(const std::string& what, ucs_status_t status) {
    return {KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("the network engine (UCX) cannot {}: {}{}", what, ucs_status_string(status), hint())};
}

/// Whether the process at the other end has ended. That is not a failure of the sender: the launcher reports it, or its
/// missing heartbeats reveal it.
inline bool has_gone(ucs_status_t status) {
    return UCS_IS_ENDPOINT_ERROR(status) || UCS_IS_LINK_ERROR(status) || status == UCS_ERR_CONNECTION_RESET ||
           status == UCS_ERR_NOT_CONNECTED || status == UCS_ERR_UNREACHABLE || status == UCS_ERR_CANCELED;
}

struct Destroy {
    void operator()(ucp_context_h context) const { ucp_cleanup(context); }
    void operator()(ucp_worker_h worker) const { ucp_worker_destroy(worker); }
    void operator()(ucp_config_t* config) const { ucp_config_release(config); }
    void operator()(ucp_rkey_h key) const { ucp_rkey_destroy(key); }
};
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Destroy>;

/// Makes a setting of UCX, unless the user has made it.
Result<> set(ucp_config_t* config, const char* name, const std::string& value);

/// UCX's settings as the user has made them.
Result<Owned<ucp_config_t*>> read_settings();
Result<Owned<ucp_context_h>> make_context(const ucp_config_t* config, std::uint64_t features,
                                          const std::string& purpose);
/// Fails when the context has found none of these interfaces (eth0,mlx5_0:1); UCX goes on without them. The user's own
/// choice for UCX takes precedence.
Result<> expect_interface(ucp_context_h context, const std::string& interface);
/// Only one thread at a time may use it.
Result<Owned<ucp_worker_h>> make_worker(ucp_context_h context);
Result<std::vector<std::byte>> address_of(ucp_worker_h worker);
/// Closes the connections at once, whatever is under way on them; null ones are skipped.
void close(ucp_worker_h worker, const std::vector<ucp_ep_h>& connections);

} // namespace kumiki::fabric::ucx
