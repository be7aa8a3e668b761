#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "platform/hardware.hpp"
#include "platform/memory.hpp"
#include "platform/standard_output.hpp"
#include "topology/machine.hpp"
#include "topology/print.hpp"

namespace {

/// Prints the text, or the sentence that says why there is none; returns the exit code.
int answer(const kumiki::Result<std::string>& text) {
    const auto done =
        text.and_then([](const std::string& known) { return kumiki::platform::write_standard_output(known); });
    if (done) return 0;
    std::fprintf(stderr, "kumiki-topology: %s\n", done.error().message.c_str());
    return 3;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Shows what this machine is: packages, cores, caches, memory, accelerators, and what of it this "
                 "process may use.",
                 "kumiki-topology");
    bool json = false;
    app.add_flag("--json", json, "Print one JSON object instead of a text");
    bool key = false;
    app.add_flag("--key", key,
                 "Print one word that identifies this kind of machine, under which kumiki tune saves its results");
    bool free = false;
    app.add_flag("--free", free,
                 "Print the memory in bytes that a program started here can still get, by the system or by its control "
                 "groups, whichever is less");
    app.set_version_flag("--version", "kumiki-topology " KUMIKI_VERSION);
    app.footer("HWLOC_SYNTHETIC and HWLOC_XMLFILE (see hwloc) make it describe another machine.\n"
               "Exit codes: 0 done, 2 wrong usage, 3 hwloc cannot tell, or the output cannot be written.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream help;
        return app.exit(error, help, std::cerr) == 0 ? answer(help.str()) : 2;
    }
    if (key) return answer(kumiki::platform::hardware_key() + '\n');
    if (free) return answer(std::to_string(kumiki::platform::available_memory()) + '\n');
    const auto machine = kumiki::topology::describe_machine();
    if (!machine) return answer(tl::unexpected(machine.error()));
    return answer(json ? kumiki::topology::as_json(*machine) : kumiki::topology::as_text(*machine));
}
