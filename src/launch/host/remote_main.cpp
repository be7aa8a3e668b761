#include "launch/host/remote_main.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <unistd.h>

#include "fabric/shm/segment.hpp"
#include "launch/command/devices.hpp"
#include "launch/command/outcome.hpp"
#include "launch/host/environment.hpp"
#include "launch/host/supervisor.hpp"
#include "launch/protocol/channel.hpp"
#include "launch/system/this_process.hpp"
#include "platform/interfaces.hpp"
#include "topology/cores.hpp"

namespace kumiki::launch {
namespace {

/// This host waits for the controller as long as the controller waits for hosts: the controller may be stopped, or its
/// host may be gone.
Channel::Clock::time_point give_up_at() { return Channel::Clock::now() + start_limit; }

template <class Message>
std::optional<Message> wait_for(Channel& channel) {
    const auto until = give_up_at();
    while (const auto frame = channel.wait_for_frame(until))
        if (auto message = read_message<Message>(*frame)) return message;
    return {};
}

/// The ranks get these variables with their values on the controller's host, and all others as this host sets them for
/// its users.
void apply(const Variables& variables) {
    std::vector<std::string> names = {"PATH", "LD_LIBRARY_PATH"};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (text.starts_with("KUMIKI_") || text.starts_with("OMP_")) names.emplace_back(text.substr(0, text.find('=')));
    }
    for (const std::string& name : names) unsetenv(name.c_str());
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
}

/// A text that is the same for hosts that are in fact one machine with the same cores (network namespaces, containers).
std::string identity(const topology::UsableCores& usable) {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    std::getline(file, boot);
    std::vector<int> processors;
    for (const auto& core : usable.cores)
        processors.insert(processors.end(), core.processors.begin(), core.processors.end());
    return boot.empty() ? "" : fmt::format("{} {}", boot, fmt::join(processors, ","));
}

Result<> enter(const std::string& folder) {
    if (chdir(folder.c_str()) == 0) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot enter the folder {}: {}; start the job in a folder that all hosts have", folder,
                            std::strerror(errno)));
}

/// The address space that each rank's regions would get if this host decided.
Result<std::uint64_t> own_arena(int ranks, std::uint64_t wanted) {
    const auto segment = fabric::shm::Segment::create(ranks, wanted);
    if (!segment) return tl::unexpected(segment.error());
    return segment->arena_bytes();
}

int refuse(Channel& channel, const Share& share, const Failure& failure) {
    channel.send(VerdictReached{{code_of(failure), on_host(share, failure.message)}});
    channel.send(Done{});
    channel.wait_until_written(give_up_at());
    return code_of(failure);
}

/// Fails if the ranks of this host cannot get the cores and devices that are requested for them; no other host has
/// started its ranks yet.
Result<> try_to_place(const topology::UsableCores& usable, std::vector<RankRequest> ranks, Binding bind) {
    decide_threads(ranks, usable.budget);
    const auto placement = place_with_devices(usable, ranks, bind);
    return placement ? Result<>() : tl::unexpected(placement.error());
}

/// Does everything between the instructions and the start. Returns the job, or why this host cannot run its share.
Result<Job> prepare(Channel& channel, const Order& order) {
    apply(order.environment);
    if (auto entered = enter(order.folder); !entered) return tl::unexpected(entered.error());
    auto settings = read_settings_with(order.settings);
    if (!settings) return tl::unexpected(settings.error());
    auto usable = topology::usable_cores();
    if (usable && !order.share.cores.empty()) usable = topology::restrict(std::move(*usable), order.share.cores);
    if (!usable) return tl::unexpected(usable.error());
    if (auto placed = try_to_place(*usable, order.share.requests, settings->bind); !placed)
        return tl::unexpected(placed.error());
    const auto arena = own_arena(order.share.ranks, settings->arena_bytes);
    if (!arena) return tl::unexpected(arena.error());
    channel.send(Ready{*arena, identity(*usable), platform::addresses_of(platform::interfaces()), usable->budget});
    const auto start = wait_for<Start>(channel);
    if (!start) _exit(exit_code::failed); // the controller is gone or silent, or has given up this host
    settings->arena_bytes = start->arena_bytes;
    settings->network_devices = platform::devices_towards(start->other_hosts);
    Options options;
    options.program = order.program;
    options.settings = order.settings;
    options.openmp = order.openmp;
    auto placement = place_with_devices(*usable, start->on_cores, settings->bind);
    if (!placement) return tl::unexpected(placement.error());
    return Job{std::move(options), std::move(*settings), order.share,
               part(std::move(*placement), start->ranks_before, order.share.ranks), start->threads};
}

} // namespace

int remote_main(char** argv) {
    // Ranks must not write into the channel.
    Channel channel(take_over_stream(STDIN_FILENO, O_RDONLY), take_over_stream(STDOUT_FILENO, O_WRONLY), true);
    channel.send_bytes(greeting);
    channel.send(Hello{KUMIKI_VERSION});
    const auto order = wait_for<Order>(channel);
    if (!order) {
        say("there are no instructions on standard input: kumiki-run --host-daemon is started by kumiki-run --hosts, "
            "not by "
            "hand");
        return exit_code::usage;
    }
    const auto job = prepare(channel, *order);
    if (!job) return refuse(channel, order->share, job.error());
    if (order->verbose)
        for (const auto& line : describe(job->placement)) channel.send(Remark{on_host(job->share, line)});
    channel.wait_until_written(give_up_at());
    return run(*job, argv, std::move(channel));
}

} // namespace kumiki::launch
