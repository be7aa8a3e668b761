#include "kernels/common/form_choice.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace kumiki::kernels {

void FormChoice::add_to(CLI::App& program) {
    program
        .add_option("--form", form,
                    "sequential, openmp (threads), hybrid or message (ranks x threads that put to each other, or send "
                    "messages; start them with kumiki-run)")
        ->check(CLI::IsMember({"sequential", "openmp", "hybrid", "message"}))
        ->capture_default_str();
    program.add_option("--threads", threads, "threads of the form openmp; 0: one per core. Others: kumiki-run -t")
        ->check(CLI::Range(0, 4096))
        ->capture_default_str();
    program.add_flag(
        "--all-threads", all_threads,
        "hybrid, message: compute with all threads even where the job has more of them than the host has cores");
}

int FormChoice::threads_or_all_cores() const {
    return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

} // namespace kumiki::kernels
