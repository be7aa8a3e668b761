#include "openmp/ranks/memory/unmapped_faults.hpp"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <unistd.h>

namespace kumiki::openmp {
namespace {

int own_rank = 0; // NOLINT: a handler has no argument for it

void on_fault(int signal, siginfo_t* information, void*) {
    constexpr std::uintptr_t near_null = 1 << 16; // a mistake that any program can make
    if (information->si_code > 0 && reinterpret_cast<std::uintptr_t>(information->si_addr) >= near_null) {
        char text[400];
        const int length = std::snprintf(
            text, sizeof text,
            "kumiki: rank %d has no memory at %p, which the program has used; if another process has got it from a "
            "library, or from mmap() of a file that it writes or at an address of its choice, it is private to that "
            "process (docs/openmp.md, \"Check these first\"): allocate it by malloc()\n",
            own_rank, information->si_addr);
        if (length > 0) static_cast<void>(!write(STDERR_FILENO, text, static_cast<std::size_t>(length)));
    }
    struct sigaction unhandled{};
    unhandled.sa_handler = SIG_DFL;
    sigaction(signal, &unhandled, nullptr); // the access comes again
    if (information->si_code <= 0) raise(signal);
}

} // namespace

void explain_unmapped_faults(int rank) {
    own_rank = rank;
    struct sigaction ours{};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, &ours, nullptr);
}

} // namespace kumiki::openmp
