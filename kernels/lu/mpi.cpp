#include "kernels/crews/mpi/blocks.hpp"
#include "kernels/lu/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "lu-" KUMIKI_PEER_NAME;
    const auto task = lu::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        MpiCrew crew(job);
        return lu::measure_on(crew, task);
    });
}
