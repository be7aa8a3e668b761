// The server of a device, which kumiki-linpack starts: kumiki-device serve DEVICE, with the listening socket and the
// lifeline as open files; and kumiki-device try DEVICE, for users.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sched.h>

#include <csignal>
#include <iostream>

#include "accelerator/open.hpp"
#include "accelerator/server.hpp"
#include "accelerator/try_device.hpp"
#include "kernels/common/blas_library.hpp"
#include "measure/program.hpp"

namespace {

constexpr const char* name = "kumiki-device";

/// The starter's binding to a processor is not for the server, which shall run where there is room.
void use_all_processors() {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) CPU_SET(processor, &all);
    sched_setaffinity(0, sizeof all, &all);
}

} // namespace

int main(int argc, char** argv) {
    using namespace kumiki::accelerator;
    CLI::App program("Serves a device (accelerator) to the ranks of this host, or tries whether it works", name);
    program.require_subcommand(1);
    std::string device;
    int socket = -1, lifeline = -1;
    CLI::App* const serve = program.add_subcommand("serve", "serve a device; started by kumiki-linpack");
    serve->add_option("DEVICE", device)->required();
    serve->add_option("--socket", socket, "the open file that listens")->required();
    serve->add_option("--lifeline", lifeline, "the open file whose other end is closed when the server shall end")
        ->required();
    CLI::App* const tried = program.add_subcommand("try", "say what a device is, and measure its products");
    tried->add_option("DEVICE", device, "such as opencl:0, or emulated:rate=20,bus=4")->required();
    kumiki::measure::parse_or_exit(program, argc, argv);
    return kumiki::measure::guarded(name, [&] {
        kumiki::kernels::set_blas_threads(1);
        if (*tried) return try_device(device, std::cout);
        // An interrupt goes to the whole group of processes: the ranks end, and then this.
        std::signal(SIGINT, SIG_IGN);
        use_all_processors();
        const std::string said = Server(File(socket), [&] { return open_device(device); }).serve(File(lifeline));
        if (!said.empty()) std::cerr << name << ": " << said << '\n';
        return static_cast<int>(kumiki::measure::success);
    });
}
