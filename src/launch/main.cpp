#include <unistd.h>

#include "launch/command/hosts.hpp"
#include "launch/command/options.hpp"
#include "launch/command/outcome.hpp"
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

int run_here(const Options& options, Settings settings, char** argv) {
    const auto usable = topology::usable_cores();
    if (!usable) return answer({exit_code::environment, usable.error().message});
    const int ranks = options.ranks.value_or(1);
    if (settings.threads == 0) settings.threads = default_threads(*usable, ranks);
    const Job job{options, settings, Share{.host = {}, .first = 0, .ranks = ranks, .size = ranks},
                  place(*usable, ranks, settings.threads, settings.bind)};
    if (options.verbose)
        for (const auto& line : describe(job.placement, job.threads())) say(line);
    return run(job, argv);
}

} // namespace

int main(int argc, char** argv) {
    open_standard_streams();
    if (argc == 2 && argv[1] == host_daemon_option) return remote_main(argv);
    auto options = parse_options(argc, argv);
    if (!options) return answer(options.error());
    for (const auto& remark : unknown_settings(environ)) say(remark);
    auto settings = read_settings_with(options->settings);
    if (!settings) return answer({exit_code::usage, settings.error().message});
    if (!options->names_hosts()) return run_here(*options, *settings, argv);
    auto shares = shares_of(*options);
    if (!shares) return answer({exit_code::usage, shares.error().message});
    return run_on_hosts(*options, *settings, *shares);
}
