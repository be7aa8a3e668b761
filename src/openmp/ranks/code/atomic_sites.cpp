#include "openmp/ranks/code/atomic_sites.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

#include "openmp/ranks/code/atomic_changes.hpp"
#include "openmp/ranks/code/code_search.hpp"
#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/writable_code.hpp"
#include "openmp/ranks/memory/image.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/memory.hpp"
#include "platform/signal_sets.hpp"

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
    Use use;
    const std::byte* loop;              ///< the first instruction of the loop in which it waits; of others, itself
    Variable variable;                  ///< that it waits for, or changes
    std::optional<AtomicChange> change; ///< nothing: the variable's home cannot carry it out
    bool uses_result;                   ///< of the change, or of the update; true where nothing is gathered
    std::optional<RealUpdate> update;   ///< that begins with this load
};

/// Those of the program, or of one of its libraries.
struct Sites {
    std::vector<Site> all; ///< sorted by `at`
    std::byte* copies;     ///< in the same order
};

/// What the handler of the trap needs; a handler has no argument for it. Written before the program runs.
struct Traps {
    Ranks* ranks;
    std::vector<Sites> sites;

    /// The site whose copy ends with the trap at this address; null: none has.
    const Site* behind_copy(const std::byte* at) const {
        for (const Sites& each : sites)
            if (at >= each.copies && at < each.copies + each.all.size() * most_bytes)
                return &each.all[static_cast<std::size_t>(at - each.copies) / most_bytes];
        return nullptr;
    }
    const Site* at(const std::byte* at) const {
        for (const Sites& each : sites)
            if (const auto site = std::ranges::lower_bound(each.all, at, {}, &Site::at);
                site != each.all.end() && site->at == at)
                return &*site;
        return nullptr;
    }
};
Traps the_traps; // NOLINT: see above

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

/// The first one that an instruction reads.
Variable variable_of(const Decoded& decoded) {
    const auto operands = std::span(decoded.operands, decoded.instruction.operand_count);
    const auto found = std::ranges::find_if(operands, [](const ZydisDecodedOperand& operand) {
        return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
               (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    });
    if (found == operands.end()) return {};
    if (found->mem.segment == ZYDIS_REGISTER_FS || found->mem.segment == ZYDIS_REGISTER_GS) return {};
    return Variable::of(variable_of(decoded, found->mem)).value_or(Variable{});
}

/// The copy of an instruction, which names the same variable from where it is. Returns false if it cannot be moved.
bool copy_to(std::byte* copy, const Decoded& decoded) {
    const auto& displacement = decoded.instruction.raw.disp;
    std::memcpy(copy, decoded.at, decoded.instruction.length);
    copy[decoded.instruction.length] = trap;
    if ((decoded.instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) == 0) return true;
    if (displacement.size != 32) return false;
    const std::int64_t from_there = displacement.value + (decoded.at - copy);
    const auto relative = static_cast<std::int32_t>(from_there);
    if (relative != from_there) return false; // of a variable nearly 2 GiB behind the code
    std::memcpy(copy + displacement.offset, &relative, sizeof relative);
    return true;
}

/// Takes the sites, in order, to their copies.
Result<> copy_sites(std::span<const Finding> found, Sites& sites) {
    for (const auto& [at, use, loop, update] : found) {
        if (!sites.all.empty() && sites.all.back().at == at) continue;
        std::byte* const copy = sites.copies + sites.all.size() * most_bytes;
        const Decoded decoded = *decode({at, most_bytes});
        if (copy_to(copy, decoded)) {
            const auto change = use == Use::changes ? AtomicChange::of(decoded) : std::nullopt;
            const bool uses_result = !the_traps.ranks->gathers() ||
                                     (update ? update->uses_result() : change && change->uses_result(decoded.end()));
            sites.all.push_back(
                {at, decoded.instruction.length, copy, use, loop, variable_of(decoded), change, uses_result, update});
        } else if (use == Use::changes || use == Use::enters)
            return fail(KUMIKI_ERROR_ENVIRONMENT,
                        fmt::format("the program has an atomic instruction at {} that cannot be moved",
                                    static_cast<const void*>(at)));
    }
    return {};
}

/// Lets the variable's home carry the instruction out, where that is possible.
bool change_at_home(const Site& site, gregset_t& registers) {
    if (!site.change) return false;
    const auto before = the_traps.ranks->change_word(site.variable.address(registers), site.change->wanted(registers),
                                                     site.uses_result);
    if (before) site.change->finish(*before, registers);
    return before.has_value();
}

/// An update that the variable's home has carried out for this thread, which now computes the same.
struct CarriedOut {
    const std::byte* exchange = nullptr; ///< what it ends with; null: there is none
    sigset_t blocked_before;
};

/// The thread is about to load a variable for an update. Lets the home carry the update out, where that is possible,
/// and loads what the variable had before.
void load_for_update(const Site& site, ucontext_t& context, CarriedOut& carried_out) {
    const RealUpdate& update = *site.update;
    auto& registers = context.uc_mcontext.gregs;
    const void* const address = site.variable.address(registers);
    std::optional<std::uint64_t> before;
    if (update.exchanged.address(registers) == address) {
        explain::Record* const record = the_traps.ranks->record();
        const auto begin = record != nullptr ? explain::Timed::Clock::now() : explain::Timed::Clock::time_point{};
        before = the_traps.ranks->change_word(address, update.wanted(context.uc_mcontext), site.uses_result);
        if (before && record != nullptr)
            record->tally(explain::Tallied::atomic, reinterpret_cast<std::uintptr_t>(update.exchange),
                          explain::Timed::Clock::now() - begin);
    }
    if (before) {
        carried_out.exchange = update.exchange;
        carried_out.blocked_before = std::exchange(context.uc_sigmask, platform::asynchronous_signals());
    } else {
        before = update.bytes == 4 ? *static_cast<const volatile std::uint32_t*>(address)
                                   : *static_cast<const volatile std::uint64_t*>(address);
    }
    registers[update.loaded] = static_cast<greg_t>(update.bytes == 4 ? *before & 0xffff'ffff : *before);
}

/// The trap in the program: enters the lock and lets the thread go on with the copy. The trap behind the copy: leaves
/// the lock and lets it go on in the program. In between the thread may fault, as everywhere. A load that waits needs
/// no lock, but a flush behind it (dsm::VariableWait): what it finds in the next pass is new, and when the loop ends,
/// so is all memory. So the fences of such a loop have no traps. An instruction that may enter a lock has both. From
/// one trap to the other no handler of the program comes, which might have such instructions, too.
void on_trap(int signal, siginfo_t*, void* given_context) {
    static thread_local const void* looks_at = nullptr; // the instruction may overwrite the registers that name it
    static thread_local sigset_t blocked_before;
    static thread_local CarriedOut carried_out;
    const int error = errno;
    auto& context = *static_cast<ucontext_t*>(given_context);
    auto& registers = context.uc_mcontext.gregs;
    auto* const at = reinterpret_cast<std::byte*>(registers[REG_RIP]) - 1; // the trap itself
    const auto go_on = [&](std::byte* there) {
        registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(there));
    };
    if (const Site* const copied = the_traps.behind_copy(at)) {
        if (copied->use != Use::waits) the_traps.ranks->release(Ranks::instruction_lock);
        if (copied->use != Use::changes) the_traps.ranks->look_again(copied->loop, looks_at);
        context.uc_sigmask = blocked_before;
        go_on(copied->at + copied->bytes);
    } else if (const Site* const site = the_traps.at(at); site != nullptr && site->update) {
        load_for_update(*site, context, carried_out);
        go_on(site->at + site->bytes);
    } else if (site != nullptr && carried_out.exchange == at) { // it would succeed
        carried_out.exchange = nullptr;
        context.uc_sigmask = carried_out.blocked_before;
        site->change->finish(static_cast<std::uint64_t>(registers[REG_RAX]), registers);
        go_on(site->at + site->bytes);
    } else if (site != nullptr) {
        const explain::Timed timed(the_traps.ranks->record(), explain::Tallied::atomic,
                                   reinterpret_cast<std::uintptr_t>(at));
        if (site->use == Use::changes && change_at_home(*site, registers)) {
            go_on(site->at + site->bytes);
        } else {
            looks_at = site->variable.address(registers);
            if (site->use != Use::waits) the_traps.ranks->acquire(Ranks::instruction_lock);
            blocked_before = std::exchange(context.uc_sigmask, platform::asynchronous_signals());
            go_on(site->copy);
        }
    } else {
        struct sigaction standard{};
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, nullptr);
        raise(signal);
    }
    errno = error;
}

/// Finds the instructions of an image and copies them.
Result<> copy_atomics(const Image& image) {
    const std::vector<Finding> found = find_in(image);
    if (found.empty()) return {};
    const std::size_t bytes = platform::round_up(found.size() * most_bytes, platform::page_size());
    Sites& sites = the_traps.sites.emplace_back(Sites{{}, reserve_near(image.code.front().data(), bytes)});
    if (sites.copies == nullptr)
        return fail(KUMIKI_ERROR_MEMORY, "there is no memory near the program for copies of its atomic instructions");
    if (auto copied = copy_sites(found, sites); !copied) return copied;
    if (mprotect(sites.copies, bytes, PROT_READ | PROT_EXEC) == 0) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot execute copies of atomic instructions (mprotect: {})", std::strerror(errno)));
}

/// Puts the traps into this part of an image.
Result<> replace_atomics(std::span<std::byte> code) {
    std::vector<std::byte*> found;
    for (const Sites& each : the_traps.sites)
        for (const Site& site : each.all)
            if (site.at >= code.data() && site.at < code.data() + code.size()) found.push_back(site.at);
    if (found.empty()) return {};
    return change_code(code, [&found] {
        for (std::byte* const at : found) *at = trap;
    });
}

} // namespace

Result<> trap_atomics(std::span<const Image> images, Ranks& ranks) {
    the_traps.ranks = &ranks;
    for (const Image& image : images)
        if (auto copied = copy_atomics(image); !copied) return copied;
    if (the_traps.sites.empty()) return {};
    const auto waits = [](const Site& site) { return site.use == Use::waits || site.use == Use::enters; };
    if (std::ranges::any_of(the_traps.sites, [&](const Sites& each) { return std::ranges::any_of(each.all, waits); }))
        if (auto expected = ranks.expect_waits(); !expected) return expected;
    struct sigaction ours{};
    ours.sa_sigaction = on_trap;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    ours.sa_mask = platform::asynchronous_signals();
    if (sigaction(SIGTRAP, &ours, nullptr) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot trap atomic instructions ({})", std::strerror(errno)));
    for (const Image& image : images)
        for (const auto& code : image.code)
            if (auto replaced = replace_atomics(code); !replaced) return replaced;
    return {};
}

} // namespace kumiki::openmp
