#include "fabric/ucx/common.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/ranges.h>
#include <iterator>

#include "fabric/ucx/description.hpp"
#include "platform/interfaces.hpp"
#include "platform/signal_sets.hpp"
#include "text/text.hpp"

namespace kumiki::fabric::ucx {

namespace {

/// The network devices that the context may use, each once: "eth0", "mlx5_0:1".
std::vector<std::string> devices_of(ucp_context_h context) {
    std::vector<std::string> found;
    for (const std::string& transport : transports_of(context)) {
        auto device = transport.substr(transport.find('/') + 1);
        const bool is_known = device.starts_with("memory") || std::ranges::find(found, device) != found.end();
        if (!is_known) found.push_back(std::move(device));
    }
    return found;
}

/// The devices whose loss can have made UCX fail: those that the system does not list as active interfaces. All
/// devices, if there is no such one.
std::vector<std::string> lost(std::vector<std::string> devices) {
    std::vector<std::string> found;
    std::ranges::remove_copy_if(devices, std::back_inserter(found), platform::is_active);
    return found.empty() ? devices : found;
}

Failure no_interface(const std::string& names) {
    return {KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("the network interface {} does not exist, is switched off or has no link, so this rank cannot "
                        "reach other hosts: see `ip link`, mend it, or name another one (KUMIKI_INTERFACE)",
                        names)};
}

} // namespace

Result<> set(ucp_config_t* config, const char* name, const std::string& value) {
    if (std::getenv((std::string("UCX_") + name).c_str()) != nullptr) return {};
    const auto status = ucp_config_modify(config, name, value.c_str());
    if (status != UCS_OK) return tl::unexpected(failure(fmt::format("set {}={}", name, value), status));
    return {};
}

Result<Owned<ucp_config_t*>> read_settings() {
    ucp_config_t* read = nullptr;
    if (const auto status = ucp_config_read(nullptr, nullptr, &read); status != UCS_OK)
        return tl::unexpected(failure("read its settings", status));
    return Owned<ucp_config_t*>(read);
}

Result<Owned<ucp_context_h>> make_context(const ucp_config_t* config, std::uint64_t features,
                                          const std::string& purpose) {
    ucp_params_t wanted{};
    wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
    wanted.features = features;
    ucp_context_h context = nullptr;
    const platform::SignalsBlocked blocked; // UCX starts threads, which must not run the program's handlers
    if (const auto status = ucp_init(&wanted, config, &context); status != UCS_OK)
        return tl::unexpected(failure(purpose, status));
    return Owned<ucp_context_h>(context);
}

Result<Owned<ucp_worker_h>> make_worker(ucp_context_h context) {
    ucp_worker_params_t parameters{};
    parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    ucp_worker_h worker = nullptr;
    const platform::SignalsBlocked blocked; // as above
    const auto status = ucp_worker_create(context, &parameters, &worker);
    // The context has found interfaces, and the worker opens them: meanwhile one may have been switched off.
    if (status == UCS_ERR_NO_DEVICE)
        return tl::unexpected(no_interface(fmt::format("{}", fmt::join(lost(devices_of(context)), ", "))));
    if (status != UCS_OK) return tl::unexpected(failure("create a worker", status));
    return Owned<ucp_worker_h>(worker);
}

Result<> expect_interface(ucp_context_h context, const std::string& interface) {
    if (interface.empty() || std::getenv("UCX_NET_DEVICES") != nullptr) return {};
    const auto found = devices_of(context);
    for (const std::string_view each : text::split(interface, ','))
        if (std::ranges::find(found, each) != found.end()) return {};
    return tl::unexpected(no_interface(interface));
}

Result<std::vector<std::byte>> address_of(ucp_worker_h worker) {
    ucp_address_t* own = nullptr;
    std::size_t length = 0;
    if (const auto status = ucp_worker_get_address(worker, &own, &length); status != UCS_OK)
        return tl::unexpected(failure("tell its address", status));
    const auto* begin = reinterpret_cast<const std::byte*>(own);
    std::vector<std::byte> address(begin, begin + length);
    ucp_worker_release_address(worker, own);
    return address;
}

void close(ucp_worker_h worker, const std::vector<ucp_ep_h>& connections) {
    std::vector<void*> closing;
    for (const ucp_ep_h each : connections) {
        if (each == nullptr) continue;
        ucp_request_param_t at_once{};
        at_once.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        at_once.flags = UCP_EP_CLOSE_FLAG_FORCE;
        void* request = ucp_ep_close_nbx(each, &at_once);
        if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
    }
    for (void* request : closing) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
        ucp_request_free(request);
    }
}

} // namespace kumiki::fabric::ucx
