#include "openmp/ranks/memory/unmapped_faults.hpp"

#include <cinttypes>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <unistd.h>

namespace kumiki::openmp {
namespace {

int own_rank = 0; // NOLINT: a handler has no argument for it

void say(const char* sentence, std::uintptr_t address) {
    char text[400];
    const int length = std::snprintf(text, sizeof text, sentence, own_rank, address);
    if (length > 0) static_cast<void>(!write(STDERR_FILENO, text, static_cast<std::size_t>(length)));
}

void on_fault(int signal, siginfo_t* information, void*) {
    constexpr std::uintptr_t near_null = 1 << 16;
    const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr);
    if (information->si_code > 0 && address >= near_null)
        say("kumiki: rank %d has no memory at %#" PRIxPTR ", which the program has used; if another process has got it "
            "from a library, name that library with --libraries; if from mmap() of a file that it writes or at an "
            "address of its choice, allocate it by malloc() (docs/openmp.md, \"Check these first\")\n",
            address);
    // A mistake that any program can make; but here the pointer may have been read where the first process has memory
    // of a library, and this one has zeros.
    else if (information->si_code > 0 && own_rank != 0)
        say("kumiki: rank %d has used a null pointer (%#" PRIxPTR "); if the program does this over several processes "
            "only, the pointer is in memory that another process has got from a library: name that library with "
            "--libraries (docs/openmp.md, \"Check these first\")\n",
            address);
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
