#include "kernels/crews/mpi/mpi_crew.hpp"
#include "kernels/pi/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "pi-" KUMIKI_PEER_NAME;
    const auto task = pi::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        MpiCrew crew(job);
        return pi::measure_on(crew, task);
    });
}
