#include "launch/host/rank_process.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace kumiki::launch {
namespace {

constexpr int exit_without_program = 127;

/// The rank dies with the host daemon, even if the host daemon died before this took effect.
void die_with(pid_t daemon) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != daemon) _exit(exit_without_program);
}

/// Binding only affects speed: if the system refuses it, the rank runs unbound.
void bind_to(const std::vector<int>& processors) {
    if (processors.empty()) return;
    const int highest = *std::max_element(processors.begin(), processors.end());
    cpu_set_t* set = CPU_ALLOC(highest + 1);
    if (set == nullptr) return;
    const std::size_t bytes = CPU_ALLOC_SIZE(highest + 1);
    CPU_ZERO_S(bytes, set);
    for (const int processor : processors) CPU_SET_S(processor, bytes, set);
    sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
}

/// The first rank of the job reads the launcher's input; the input of the others is empty.
void connect(const RankStart& start) {
    const RankStreams& streams = start.streams;
    if (streams.input) dup2(streams.input.get(), STDIN_FILENO);
    else if (start.job.share.first + start.rank != 0)
        if (const int null = open("/dev/null", O_RDONLY | O_CLOEXEC); null >= 0) dup2(null, STDIN_FILENO);
    if (streams.output) dup2(streams.output.get(), STDOUT_FILENO);
    if (streams.error) dup2(streams.error.get(), STDERR_FILENO);
}

/// A copy of the descriptor that the program will have; -1: there is none.
int inherited(const platform::Descriptor& descriptor) {
    return descriptor ? fcntl(descriptor.get(), F_DUPFD, lowest_shared_descriptor) : -1;
}

} // namespace

void become_rank(RankStart start) {
    die_with(start.daemon);
    setpgid(0, start.group);
    if (start.job.placement.this_machine)
        bind_to(start.job.placement.ranks[static_cast<std::size_t>(start.rank)].processors);
    connect(start);
    const RankStreams& streams = start.streams;
    tell_rank(start.environment, start.job, start.rank,
              {inherited(streams.wireup), inherited(streams.marks), inherited(streams.unread)});
    std::vector<std::string> words = start.job.options.program;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    start.inherited.restore();
    // Several processes of one program must have everything at the same addresses; they compare them at the start.
    if (start.job.options.openmp && start.job.share.size > 1) personality(ADDR_NO_RANDOMIZE);
    execvpe(arguments[0], arguments.data(), start.environment.entries().data());
    const ExecFailure failure{start.rank, errno};
    static_cast<void>(!write(start.failures, &failure, sizeof failure));
    _exit(exit_without_program);
}

} // namespace kumiki::launch
