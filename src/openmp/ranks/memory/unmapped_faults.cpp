#include "openmp/ranks/memory/unmapped_faults.hpp"

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <unistd.h>

#include "platform/fault_signals.hpp"

namespace kumiki::openmp {
namespace {

/// Variables of the process: a handler has no argument for them. They are never destroyed: libraries that end after
/// this one may fault.
constinit int own_rank = 0;                       // NOLINT: see above
auto& libraries_apart = *new std::vector<Object>; // NOLINT: see above

template <class... Values>
void say(const char* sentence, Values... values) {
    char text[1000];
    const int length = std::snprintf(text, sizeof text, sentence, own_rank, values...);
    if (length <= 0) return;
    const std::size_t written = std::min(static_cast<std::size_t>(length), sizeof text - 1);
    static_cast<void>(!write(STDERR_FILENO, text, written));
}

/// If the instruction is a library's, that is probably where the memory comes from.
void say_no_memory(std::uintptr_t address, const void* instruction) {
    const auto user =
        std::ranges::find_if(libraries_apart, [&](const Object& each) { return each.executes(instruction); });
    const std::string_view library = user != libraries_apart.end() ? user->plain_name() : "";
    const auto length = static_cast<int>(library.size());
    const char *const name = library.data(), *const in = library.empty() ? "" : " in ";
    const char* const option = library.empty() ? ", or all of them (--libraries all)" : " ";
    constexpr std::uintptr_t near_null = 1 << 16;
    if (address >= near_null)
        say("kumiki: rank %d has no memory at %#" PRIxPTR ", which the program has used%s%.*s; if another process has "
            "got it from a library, name that library with --libraries%s%.*s; if from mmap() of a file that it writes "
            "or at an address of its choice, allocate it by malloc() (docs/openmp.md, \"Check these first\")\n",
            address, in, length, name, option, length, name);
    // A mistake that any program can make; but here the pointer may have been read where the first process has memory
    // of a library, and this one has zeros.
    else if (own_rank != 0)
        say("kumiki: rank %d has used a null pointer (%#" PRIxPTR ")%s%.*s; if the program does this over several "
            "processes only, the pointer is in memory that another process has got from a library: name that library "
            "with --libraries%s%.*s (docs/openmp.md, \"Check these first\")\n",
            address, in, length, name, option, length, name);
}

void on_fault(int signal, siginfo_t* information, void* context) {
    const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr);
    const void* const instruction = platform::instruction_of(context);
    const bool is_access = information->si_code > 0;
    if (is_access && instruction == information->si_addr && instruction != nullptr)
        say("kumiki: rank %d has no code at %#" PRIxPTR ", which the program has called; if another process has loaded "
            "it (dlopen) after the program had begun, let it be loaded at the start: LD_PRELOAD (docs/openmp.md, "
            "\"Check these first\")\n",
            address);
    else if (is_access) say_no_memory(address, instruction);
    struct sigaction unhandled{};
    unhandled.sa_handler = SIG_DFL;
    sigaction(signal, &unhandled, nullptr); // the access comes again
    if (!is_access) raise(signal);
}

} // namespace

void explain_unmapped_faults(int rank, const std::vector<Object>& libraries) {
    own_rank = rank;
    libraries_apart = libraries;
    struct sigaction ours{};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, &ours, nullptr);
}

} // namespace kumiki::openmp
