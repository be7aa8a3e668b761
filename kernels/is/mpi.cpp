#include "kernels/crews/mpi/key_exchange.hpp"
#include "kernels/is/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "is-" KUMIKI_PEER_NAME;
    const auto task = is::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        MpiCrew crew(job);
        return is::measure_on(crew, task);
    });
}
