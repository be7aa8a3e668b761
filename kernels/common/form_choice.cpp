#include "kernels/common/form_choice.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace kumiki::kernels {

void FormChoice::add_to(CLI::App& program) {
    std::vector<std::string> names{"sequential", "openmp", "hybrid", "message", "shared"};
    std::string help =
        "sequential, openmp (threads), hybrid, message or shared (ranks x threads that put to each other, send "
        "messages, or have their data in shared arrays; start them with kumiki-run)";
    for (const OwnForm& own : own_forms) {
        names.push_back(own.name);
        help += ", " + own.name + " (" + own.help + ")";
    }
    program.add_option("--form", form, help)->check(CLI::IsMember(names))->capture_default_str();
    const char* const those_of = own_forms.empty()
                                     ? "threads of the form openmp; 0: one per core. Others: kumiki-run -t"
                                     : "threads of the forms within one process; 0: one per core. Others: "
                                       "kumiki-run -t";
    program.add_option("--threads", threads, those_of)->check(CLI::Range(0, 4096))->capture_default_str();
    program.add_flag(
        "--all-threads", all_threads,
        "hybrid, message, shared: compute with all threads even where the job has more of them than the host has "
        "cores");
    program
        .add_option(
            "--homes", homes,
            "shared: which rank is the home of which page: block, cyclic, first (the rank that touches it first), next "
            "(that touches it first after the initialization), relocated (first, and then the rank that "
            "keeps writing to it), managed (first, by a manager), hand (the rank that works on it, placed before the "
            "program begins), rows (that has the worker, by dimension)")
        ->check(CLI::IsMember({"block", "cyclic", "first", "next", "relocated", "managed", "hand", "rows"}))
        ->capture_default_str();
    program
        .add_option(
            "--protocol", protocol,
            "shared: what a barrier does with copies of pages that others have written: drop them (invalidate), "
            "or bring them up to date (update)")
        ->check(CLI::IsMember({"invalidate", "update"}))
        ->capture_default_str();
    program.add_option("--page", page, "shared: bytes of a page, a power of two up to 65536; 0: the system's page")
        ->check(CLI::Range(0, 65536))
        ->capture_default_str();
}

int FormChoice::threads_or_all_cores() const {
    return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

} // namespace kumiki::kernels
