#include "kernels/crews/mpi/key_exchange.hpp"
#include "kernels/radix-sort/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "radix-sort-" KUMIKI_PEER_NAME;
    const auto task = radix_sort::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        MpiCrew crew(job);
        return radix_sort::measure_on(crew, task);
    });
}
