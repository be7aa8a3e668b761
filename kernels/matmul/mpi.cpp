#include "kernels/crews/mpi/panels.hpp"
#include "kernels/matmul/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "matmul-" KUMIKI_PEER_NAME;
    const auto task = matmul::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        MpiCrew crew(job);
        return matmul::measure_on(crew, task);
    });
}
