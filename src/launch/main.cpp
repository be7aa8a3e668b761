#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "launch/environment.hpp"
#include "launch/exit_code.hpp"
#include "launch/front.hpp"
#include "launch/options.hpp"
#include "launch/say.hpp"
#include "topology/cores.hpp"

namespace {

using namespace kumiki;
using namespace kumiki::launch;

/// A launcher that was started with a standard stream closed must not hand out that number for anything else.
void open_standard_streams() {
    int descriptor = 0;
    while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
    if (descriptor >= 0) close(descriptor);
}

int answer(const Reply& reply) {
    if (reply.code == exit_code::ok) std::fputs(reply.text.c_str(), stdout);
    else say(reply.text);
    return reply.code;
}

/// What the environment and the options together say.
Result<Settings> settings_of(const Options& options) {
    Environment environment(environ);
    for (const auto& [name, value] : options.settings) environment.set(name, value);
    return read_settings(environment.entries().data());
}

} // namespace

int main(int argc, char** argv) {
    open_standard_streams();
    auto options = parse_options(argc, argv);
    if (!options) return answer(options.error());
    for (const auto& remark : unknown_settings(environ)) say(remark);
    auto settings = settings_of(*options);
    if (!settings) return answer({exit_code::usage, settings.error().message});
    const auto usable = topology::usable_cores();
    if (!usable) return answer({exit_code::environment, usable.error().message});
    if (settings->threads == 0) settings->threads = default_threads(*usable, options->ranks);
    const Job job{*options, *settings, place(*usable, options->ranks, settings->threads, settings->bind)};
    if (options->verbose)
        for (const auto& line : describe(job.placement, job.threads())) say(line);
    return run(job, argv);
}
