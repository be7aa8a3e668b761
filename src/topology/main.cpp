#include <CLI/CLI.hpp>
#include <cstdio>

#include "platform/hardware.hpp"
#include "topology/machine.hpp"
#include "topology/print.hpp"

int main(int argc, char** argv) {
    CLI::App app("Shows what this machine is: packages, cores, caches, memory, accelerators, and what of it this "
                 "process may use.",
                 "kumiki-topology");
    bool json = false;
    app.add_flag("--json", json, "Print one JSON object instead of a text");
    bool key = false;
    app.add_flag("--key", key, "Print one word for this kind of machine, by which kumiki tune keeps what it has found");
    app.set_version_flag("--version", "kumiki-topology " KUMIKI_VERSION);
    app.footer("HWLOC_SYNTHETIC and HWLOC_XMLFILE (see hwloc) make it describe another machine.\n"
               "Exit codes: 0 done, 2 wrong usage, 3 hwloc cannot tell.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (key) {
        std::puts(kumiki::platform::hardware_key().c_str());
        return 0;
    }
    const auto machine = kumiki::topology::describe_machine();
    if (!machine) {
        std::fprintf(stderr, "kumiki-topology: %s\n", machine.error().message.c_str());
        return 3;
    }
    std::fputs((json ? kumiki::topology::as_json(*machine) : kumiki::topology::as_text(*machine)).c_str(), stdout);
    return 0;
}
