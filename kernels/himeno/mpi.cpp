#include "kernels/crews/mpi/sendrecv_crew.hpp"
#include "kernels/himeno/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    constexpr const char* name = "himeno-" KUMIKI_PEER_NAME;
    const auto task = himeno::parse_task(name, StartedBy::mpi, argc, argv);
    return run_mpi_program(name, [&](const MpiJob& job) {
        if (task.sendrecv) {
            SendrecvCrew crew(job);
            return himeno::measure_on(crew, task);
        }
        MpiCrew crew(job);
        return himeno::measure_on(crew, task);
    });
}
