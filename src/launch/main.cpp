#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "launch/command/devices.hpp"
#include "launch/command/hosts.hpp"
#include "launch/command/one_process.hpp"
#include "launch/command/openmp.hpp"
#include "launch/command/options.hpp"
#include "launch/command/outcome.hpp"
#include "launch/command/shares.hpp"
#include "launch/controller/controller.hpp"
#include "launch/host/environment.hpp"
#include "launch/host/remote_main.hpp"
#include "launch/host/supervisor.hpp"
#include "launch/protocol/message.hpp"
#include "launch/system/this_process.hpp"
#include "platform/standard_output.hpp"
#include "topology/cores.hpp"

namespace {

using namespace kumiki;
using namespace kumiki::launch;

int answer(const Reply& reply) {
    if (reply.code != exit_code::ok) {
        say(reply.text);
        return reply.code;
    }
    if (const auto written = platform::write_standard_output(reply.text); !written)
        return answer({exit_code::environment, written.error().message});
    return exit_code::ok;
}

int run_here(const Options& options, const Settings& settings, Share share, char** argv) {
    const auto usable = topology::usable_cores();
    if (!usable) return answer({exit_code::environment, usable.error().message});
    decide_threads(share.requests, usable->budget);
    auto placement = place(*usable, share.requests, settings.bind);
    if (!placement) return answer({code_of(placement.error()), placement.error().message});
    if (options.openmp && settings.shared_copies == CopyHolder::host) {
        if (options.verbose && share.ranks > 1)
            say(fmt::format("the {} ranks of the OpenMP program are one process", share.ranks));
        become_one_process(share, *placement, binds_openmp_threads());
    }
    if (auto found = find_devices(*placement, share.requests); !found)
        return answer({code_of(found.error()), found.error().message});
    auto threads = threads_of(share.requests);
    const Job job{options, settings, std::move(share), std::move(*placement), std::move(threads)};
    if (options.verbose)
        for (const auto& line : describe(job.placement)) say(line);
    return run(job, argv);
}

/// An OpenMP program is one process of each host, unless the user wants a copy of the memory for each rank. Those of
/// this host are joined when they have their places.
Result<> prepare_program(Options& options, const Settings& settings, std::vector<Share>& shares) {
    const bool joins = settings.shared_copies == CopyHolder::host, here = shares.front().host.empty();
    if (joins && !here) become_one_process_each(shares);
    return prepare_openmp(options, settings, joins && here ? 1 : shares.front().size);
}

} // namespace

int main(int argc, char** argv) {
    open_standard_streams();
    if (argc == 2 && argv[1] == host_daemon_option) return remote_main(argv);
    auto options = parse_options(argc, argv);
    if (!options) return answer(options.error());
    // From here on they count as if the user had set them in front of the command.
    for (const auto& [name, value] : options->variables) setenv(name.c_str(), value.c_str(), 1);
    for (const auto& remark : unknown_settings(environ)) say(remark);
    auto settings = read_settings_with(options->settings);
    if (!settings) return answer({exit_code::usage, settings.error().message});
    auto shares = shares_of(*options, *settings);
    if (!shares) return answer({exit_code::usage, shares.error().message});
    if (options->openmp)
        if (auto prepared = prepare_program(*options, *settings, *shares); !prepared)
            return answer({code_of(prepared.error()), prepared.error().message});
    if (shares->front().host.empty()) return run_here(*options, *settings, std::move(shares->front()), argv);
    return run_on_hosts(*options, *settings, *shares);
}
