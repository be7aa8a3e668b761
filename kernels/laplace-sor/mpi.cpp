#include "kernels/crews/mpi/mpi_crew.hpp"
#include "kernels/laplace-sor/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "laplace-sor-" KUMIKI_PEER_NAME;
    const auto task = laplace_sor::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        MpiCrew crew(job);
        return laplace_sor::measure_on(crew, task);
    });
}
