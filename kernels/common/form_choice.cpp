#include "kernels/common/form_choice.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace kumiki::kernels {

void FormChoice::add_to(CLI::App& program) {
    std::vector<std::string> names{"sequential", "openmp", "hybrid", "message"};
    std::string help =
        "sequential, openmp (threads), hybrid or message (ranks x threads that put to each other, or send messages; "
        "start them with kumiki-run)";
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
        "hybrid, message: compute with all threads even where the job has more of them than the host has cores");
}

int FormChoice::threads_or_all_cores() const {
    return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

} // namespace kumiki::kernels
