#include "kernels/cg/task.hpp"
#include "kernels/crews/mpi/shared_vector.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "cg-" KUMIKI_PEER_NAME;
    const auto task = cg::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        MpiCrew crew(job);
        return cg::measure_on(crew, task);
    });
}
