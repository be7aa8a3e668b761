#include "openmp/ranks/atomic_sites.hpp"

#include <Zydis/Zydis.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#include "openmp/ranks/image.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

constexpr std::byte trap{0xcc};
constexpr std::size_t most_bytes = 16; ///< of an instruction, and of a trap behind it

/// An instruction of the program that a trap has replaced. Its copy, which the thread executes between two traps, lies
/// elsewhere, with a trap behind it.
struct Site {
    std::byte* at;
    std::size_t bytes;
    std::byte* copy;
};

/// What the handler of the trap needs; a handler has no argument for it. Sorted by `at`; written before the program
/// runs.
struct Traps {
    Ranks* ranks;
    std::vector<Site> sites;
    std::byte* copies;
};
Traps the_traps; // NOLINT: see above

bool is_atomic(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
    if ((instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) return true;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE) return true;
    return instruction.mnemonic == ZYDIS_MNEMONIC_XCHG &&
           (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY || operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY);
}

/// The copies must be within 2 GiB of the program, because instructions name variables relative to themselves.
std::byte* reserve_near(std::byte* code, std::size_t bytes) {
    constexpr std::size_t step = std::size_t{1} << 24, far = std::size_t{3} << 29;
    for (std::size_t distance = step; distance < far; distance += step)
        for (const bool below : {true, false}) {
            const auto at = reinterpret_cast<std::uintptr_t>(code);
            if (below && at < distance + step) continue;
            auto* const wish = reinterpret_cast<void*>((below ? at - distance : at + distance) & ~(step - 1));
            void* const got =
                mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (got == wish) return static_cast<std::byte*>(got);
            if (got != MAP_FAILED) munmap(got, bytes);
        }
    return nullptr;
}

struct Found {
    std::byte* at;
    ZydisDecodedInstruction instruction;
};

/// All of them in a piece of code, read from its beginning to its end.
void find_sites(std::span<std::byte> code, std::vector<Found>& found) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (std::size_t at = 0; at < code.size();) {
        ZydisDecodedInstruction instruction;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, &code[at], code.size() - at, &instruction, operands))) {
            ++at; // the padding between functions
            continue;
        }
        if (is_atomic(instruction, operands)) found.push_back({&code[at], instruction});
        at += instruction.length;
    }
}

/// The copy of an instruction, which names the same variable from where it is.
Result<> copy_to(std::byte* copy, const Found& found) {
    const auto& displacement = found.instruction.raw.disp;
    std::memcpy(copy, found.at, found.instruction.length);
    copy[found.instruction.length] = trap;
    if ((found.instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) == 0) return {};
    const std::ptrdiff_t moved = found.at - copy;
    if (displacement.size != 32)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("the program has an atomic instruction at {} that cannot be moved",
                                static_cast<const void*>(found.at)));
    const auto relative = static_cast<std::int32_t>(displacement.value + moved);
    std::memcpy(copy + displacement.offset, &relative, sizeof relative);
    return {};
}

/// The trap in the program: enters the lock and lets the thread go on with the copy. The trap behind the copy: leaves
/// the lock and lets it go on in the program. In between the thread may fault, as everywhere.
void on_trap(int signal, siginfo_t*, void* context) {
    const int error = errno;
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    auto* const at = reinterpret_cast<std::byte*>(registers[REG_RIP]) - 1; // the trap itself
    const auto& sites = the_traps.sites;
    const auto go_on = [&](std::byte* there) {
        registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(there));
    };
    if (at >= the_traps.copies && at < the_traps.copies + sites.size() * most_bytes) {
        const Site& site = sites[static_cast<std::size_t>(at - the_traps.copies) / most_bytes];
        the_traps.ranks->release(Ranks::instruction_lock);
        go_on(site.at + site.bytes);
    } else if (const auto site = std::ranges::lower_bound(sites, at, {}, &Site::at);
               site != sites.end() && site->at == at) {
        the_traps.ranks->acquire(Ranks::instruction_lock);
        go_on(site->copy);
    } else {
        struct sigaction standard{};
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, nullptr);
        raise(signal);
    }
    errno = error;
}

} // namespace

Result<> trap_atomics(const Image& image, Ranks& ranks) {
    std::vector<Found> found;
    for (const auto& code : image.code) find_sites(code, found);
    if (found.empty()) return {};
    std::ranges::sort(found, {}, &Found::at);
    const std::size_t page = platform::page_size();
    const std::size_t bytes = (found.size() * most_bytes + page - 1) / page * page;
    the_traps.copies = reserve_near(image.code.front().data(), bytes);
    if (the_traps.copies == nullptr)
        return fail(KUMIKI_ERROR_MEMORY, "there is no memory near the program for copies of its atomic instructions");
    the_traps.ranks = &ranks;
    for (const Found& each : found) {
        std::byte* const copy = the_traps.copies + the_traps.sites.size() * most_bytes;
        if (auto copied = copy_to(copy, each); !copied) return copied;
        the_traps.sites.push_back({each.at, each.instruction.length, copy});
    }
    struct sigaction ours{};
    ours.sa_sigaction = on_trap;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGTRAP, &ours, nullptr) != 0 || mprotect(the_traps.copies, bytes, PROT_READ | PROT_EXEC) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot trap atomic instructions ({})", std::strerror(errno)));
    for (const auto& code : image.code) {
        auto* const begin = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(code.data()) / page * page);
        const auto length = static_cast<std::size_t>(code.data() + code.size() - begin);
        if (mprotect(begin, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
            return fail(
                KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot replace atomic instructions of the program (mprotect: {})", std::strerror(errno)));
        for (const Site& site : the_traps.sites)
            if (site.at >= code.data() && site.at < code.data() + code.size()) *site.at = trap;
        mprotect(begin, length, PROT_READ | PROT_EXEC);
    }
    return {};
}

} // namespace kumiki::openmp
