// A rank of a job that an MPI's mpirun or Slurm's srun has started. With MPI (compiled with -DWITH_MPI) it also sums
// the ranks by MPI, and finds out whether MPI counts them as Kumiki does.
//   joining alone                joins, sums, puts to the next rank, prints a line, leaves
//   joining killed|exited|ended  the last rank dies while the others wait for it: by a signal, with code 9, with code 0
//   joining stopped              rank 2 of them stops itself
//   joining late                 leaves at the end of a global object's life, when main has returned
//   joining twice                joins, leaves, and joins again
//   joining before|during|left|after   joins before MPI_Init; between it and MPI_Finalize; joins and leaves before it;
//                                after MPI_Finalize
//   joining slow                 after it, where each rank's own takes longer than that of the rank before it
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#ifdef WITH_MPI
#include <mpi.h>
#endif

#include "kumiki/kumiki.hpp"

namespace {

/// The abilities that every job must have: memory of other ranks, a signal and a collective.
void work(kumiki::Job& job) {
    const int sum = job.all_reduce(job.rank(), kumiki::Operation::sum);
    if (sum != job.size() * (job.size() - 1) / 2) throw std::runtime_error("the sum of the ranks is wrong");
    auto from = job.allocate<int>(1);
    job.put((job.rank() + 1) % job.size(), from[0], job.rank());
    job.barrier();
    if (from[0] != (job.rank() + job.size() - 1) % job.size())
        throw std::runtime_error("another rank's put has not arrived");
}

void tell(kumiki::Job& job) {
    std::string line = "rank " + std::to_string(job.rank()) + " of " + std::to_string(job.size()) + ", " +
                       std::to_string(job.threads()) + " threads, " +
                       (job.oversubscribed() ? "crowded" : "not crowded");
    for (int rank = 0; rank < job.size(); ++rank)
        line += (rank == 0 ? ", of all " : ",") + std::to_string(job.threads(rank));
    const char* before = ", on ";
    for (const int processor : job.processors()) line += std::exchange(before, ",") + std::to_string(processor);
    std::puts(line.c_str());
    std::fflush(stdout);
}

/// Older than the library's first look at the launcher, so that the library's actions at exit could come first.
std::optional<kumiki::Job> job_of_the_process;

void run_alone(std::string_view task) {
    if (task == "twice") {
        {
            kumiki::Job first;
        }
        kumiki::Job second;
        return;
    }
    if (task == "late") {
        job_of_the_process.emplace();
        work(*job_of_the_process);
        tell(*job_of_the_process);
        return;
    }
    kumiki::Job job;
    if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD)
        throw std::runtime_error("joining has left a child process, for which the program would wait");
    work(job);
    tell(job);
    if (task == "alone") return;
    job.barrier(); // all have reported that they are there
    if (task == "stopped") {
        job.on_failure([rank = job.rank()](const char* sentence) {
            std::printf("the program of rank %d was told: %s\n", rank, sentence);
            std::fflush(stdout);
        });
        if (job.rank() == 2) std::raise(SIGSTOP);
        job.barrier();
        return;
    }
    if (job.rank() == job.size() - 1) {
        if (task == "killed") kill(getpid(), SIGKILL);
        if (task == "ended") std::exit(0);
        std::_Exit(9);
    }
    job.barrier();
}

#ifdef WITH_MPI
void compare(kumiki::Job& job) {
    int rank = -1, size = -1, sum = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank != job.rank() || size != job.size() || sum != size * (size - 1) / 2)
        throw std::runtime_error("MPI counts the ranks in another way");
}

std::chrono::milliseconds delay_of_finalize{};

void count_ranks_of_mpi() {
    MPI_Init(nullptr, nullptr);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::printf("%d ranks of MPI\n", size);
    MPI_Finalize();
}

void run_with_mpi(std::string_view task) {
    if (task == "count") {
        count_ranks_of_mpi();
    } else if (task == "before") {
        kumiki::Job job;
        MPI_Init(nullptr, nullptr);
        work(job);
        compare(job);
        MPI_Finalize();
        work(job);
        tell(job);
    } else if (task == "during") {
        MPI_Init(nullptr, nullptr);
        {
            kumiki::Job job;
            work(job);
            compare(job);
            tell(job);
        }
        MPI_Finalize();
    } else if (task == "left") {
        {
            kumiki::Job job;
            work(job);
            tell(job);
        }
        MPI_Init(nullptr, nullptr);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    } else if (task == "after" || task == "slow") {
        MPI_Init(nullptr, nullptr);
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (task == "slow") delay_of_finalize = rank * std::chrono::milliseconds(250);
        MPI_Finalize();
        kumiki::Job job;
        work(job);
        tell(job);
    } else run_alone(task);
}
#else
void run_with_mpi(std::string_view task) { run_alone(task); }
#endif

} // namespace

#ifdef WITH_MPI
/// Stands before the function of PMIx, which Open MPI calls at the end of MPI_Finalize.
extern "C" [[gnu::visibility("default")]] int PMIx_Finalize(const void* information, std::size_t count) {
    std::this_thread::sleep_for(std::exchange(delay_of_finalize, {}));
    const auto next = reinterpret_cast<int (*)(const void*, std::size_t)>(dlsym(RTLD_NEXT, "PMIx_Finalize"));
    return next(information, count);
}
#endif

int main(int argc, char** argv) try {
    if (argc != 2) return 2;
    run_with_mpi(argv[1]);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "joining: %s\n", error.what());
    return 5;
}
