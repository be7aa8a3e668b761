#include "openmp/ranks/code/atomic_sites.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <ranges>
#include <span>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

#include "openmp/process.hpp"
#include "openmp/ranks/code/atomic_changes.hpp"
#include "openmp/ranks/code/code_search.hpp"
#include "openmp/ranks/code/function_calls.hpp"
#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/jump_patches.hpp"
#include "openmp/ranks/code/writable_code.hpp"
#include "openmp/ranks/memory/image.hpp"
#include "openmp/ranks/process/signals.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/memory.hpp"
#include "platform/signal_sets.hpp"

namespace kumiki::openmp {
namespace {

constexpr std::byte trap{0xcc};
constexpr std::size_t copy_bytes = 64; ///< of an instruction, and of what comes behind it
static_assert(longest_instruction + JumpPatches::call_bytes <= copy_bytes);
constexpr std::size_t plain_bytes = 32; ///< of an instruction, and of a jump to the program
static_assert(longest_instruction + JumpPatches::jump_bytes <= plain_bytes);
constexpr std::size_t site_bytes = plain_bytes + copy_bytes;

/// An instruction of the program that the runtime replaces by a jump, or by a trap if no jump is possible. Its copy,
/// which the thread executes in between, lies elsewhere; what follows it there comes back to the runtime, or, where an
/// update has been made, to the program. The runtime executes the loads of updates itself.
struct Site {
    std::byte* at;
    std::size_t bytes;
    std::byte* copy;
    const std::byte* plain; ///< another copy, which leads back to the program, for while other ranks rest; null: none
    Use use;
    const std::byte* loop;              ///< the first instruction of the loop in which it waits; of others, itself
    Variable variable;                  ///< that it waits for, or changes
    std::optional<AtomicChange> change; ///< nothing: the variable's home cannot carry it out
    bool uses_result;                   ///< of the change, or of the update; true where that does not matter
    std::optional<RealUpdate> update;   ///< to which it belongs

    std::span<std::byte> instruction() const { return {at, bytes}; }
};

/// Those of the program, or of one of its libraries.
struct Sites {
    std::vector<Site> all; ///< sorted by `at`, and never moved
    std::byte* copies;     ///< in the same order
};

/// What the handlers need that have no argument for it. Written before the program runs.
struct Replaced {
    Ranks* ranks;
    std::vector<Sites> sites;

    /// The site whose copy ends with the trap at this address; null: none has.
    const Site* behind_copy(const std::byte* at) const {
        for (const Sites& each : sites)
            if (at >= each.copies && at < each.copies + each.all.size() * site_bytes)
                return &each.all[static_cast<std::size_t>(at - each.copies) / site_bytes];
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
// Never destroyed: libraries that end after this one may call what has been replaced.
Replaced& replaced = *new Replaced; // NOLINT: see above

/// The first one that an instruction reads.
Variable variable_of(const Decoded& decoded) {
    const auto operands = std::span(decoded.operands, decoded.instruction.operand_count);
    const auto found = std::ranges::find_if(operands, [](const ZydisDecodedOperand& operand) {
        return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
               (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    });
    if (found == operands.end() || is_of_thread(found->mem)) return {};
    return Variable::of(variable_of(decoded, found->mem)).value_or(Variable{});
}

/// The copy of an instruction, which names the same variable from where it is. Returns false if it cannot be moved.
bool copy_to(std::byte* copy, const Decoded& decoded) {
    const auto& displacement = decoded.instruction.raw.disp;
    std::memcpy(copy, decoded.at, decoded.instruction.length);
    if ((decoded.instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) == 0) return true;
    if (displacement.size != 32) return false;
    const std::int64_t from_there = displacement.value + (decoded.at - copy);
    const auto relative = static_cast<std::int32_t>(from_there);
    if (relative != from_there) return false; // of a variable nearly 2 GiB behind the code
    std::memcpy(copy + displacement.offset, &relative, sizeof relative);
    return true;
}

// -- what a thread does in the place of a site, and behind its copy --

/// A thread that has come to the runtime, by a jump or by a trap.
struct Arrival {
    mcontext_t& context;
    sigset_t* mask; ///< with which it goes on; null: the program handles no signals

    gregset_t& registers() const { return context.gregs; }
    void go_on(const std::byte* there) const {
        registers()[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(there));
    }
    void go_on_behind(const Site& site) const { go_on(site.at + site.bytes); }
};

/// What a thread has begun in one place, and ends in another one. In between no handler of the program comes, which
/// might have such instructions, too.
class Begun {
public:
    static Begun& of_this_thread() {
        static thread_local Begun begun;
        return begun;
    }
    void begin(const Arrival& arrival) {
        before_.reset();
        if (arrival.mask != nullptr) before_ = std::exchange(*arrival.mask, platform::asynchronous_signals());
    }
    void end(const Arrival& arrival) const {
        if (arrival.mask != nullptr && before_) *arrival.mask = *before_;
    }

    const void* looks_at = nullptr;            ///< the instruction may overwrite the registers that name it
    const std::byte* put_off_to = nullptr;     ///< the place where an update is made, whose load the thread has put off
    const void* loads_from = nullptr;          ///< then
    bool has_lock = false;                     ///< of what is between the site and the end of its copy
    const std::byte* carried_out_to = nullptr; ///< the exchange of an update that the variable's home has carried out
                                               ///< for this thread, which now computes the same; null: there is none

private:
    std::optional<sigset_t> before_;
};

explain::Tallied tallied(const Ranks::Changed& changed) {
    return changed.gathered ? explain::Tallied::gathered : explain::Tallied::atomic;
}

/// Lets the variable's home carry the instruction out, where that is possible.
bool change_at_home(const Site& site, gregset_t& registers, explain::Timed& timed) {
    if (!site.change) return false;
    const void* const address = site.variable.address(registers);
    const auto changed = replaced.ranks->change_word(address, site.change->wanted(registers), site.uses_result);
    if (!changed) return false;
    timed.becomes(tallied(*changed));
    site.change->finish(changed->before, registers);
    return true;
}

std::uint64_t load(const void* variable, unsigned bytes) {
    return bytes == 4 ? *static_cast<const volatile std::uint32_t*>(variable)
                      : *static_cast<const volatile std::uint64_t*>(variable);
}

/// The thread has come to where it loads a variable for an update, or uses what it has put off to load. Lets the home
/// carry the update out, where that is possible, and loads what the variable had before.
void make_update(const Site& site, const Arrival& arrival, const void* variable) {
    const RealUpdate& update = *site.update;
    Begun& begun = Begun::of_this_thread();
    explain::Timed timed(replaced.ranks->record(), explain::Tallied::none,
                         reinterpret_cast<std::uintptr_t>(update.exchange));
    std::optional<Ranks::Changed> changed;
    if (update.exchanged.address(arrival.registers()) == variable)
        changed = replaced.ranks->change_word(variable, update.wanted(arrival.context), site.uses_result);
    if (changed) {
        timed.becomes(tallied(*changed));
        begun.carried_out_to = update.exchange;
        begun.begin(arrival);
    }
    update.load_into(arrival.registers(), changed ? changed->before : load(variable, update.bytes));
}

void begin_update(const Site& site, const Arrival& arrival) {
    const RealUpdate& update = *site.update;
    Begun& begun = Begun::of_this_thread();
    if (site.use == Use::loads) {
        begun.put_off_to = update.use;
        begun.loads_from = site.variable.address(arrival.registers());
        begun.begin(arrival);
    } else if (update.load == update.use) {
        make_update(site, arrival, site.variable.address(arrival.registers()));
    } else {
        if (std::exchange(begun.put_off_to, nullptr) == site.at) { // else it comes another way, with what it has loaded
            begun.end(arrival);
            make_update(site, arrival, begun.loads_from);
        }
        return arrival.go_on(site.copy);
    }
    arrival.go_on_behind(site);
}

/// Makes an update whose result the program does not use in the place of its compare-and-exchange, which then has
/// succeeded. Returns false if that is not possible.
bool update_in_place_of(const Site& site, const Arrival& arrival, explain::Timed& timed) {
    const void* const variable = site.variable.address(arrival.registers());
    const auto changed = replaced.ranks->change_word(variable, site.update->wanted(arrival.context), site.uses_result);
    if (!changed) return false;
    timed.becomes(tallied(*changed));
    site.change->finish(static_cast<std::uint64_t>(arrival.registers()[REG_RAX]), arrival.registers());
    return true;
}

/// Enters the lock and lets the thread go on with the copy, behind which it leaves the lock. In between the thread may
/// fault, as everywhere. A load that waits needs no lock, but a flush behind it (dsm::VariableWait): what it finds in
/// the next pass is new, and when the loop ends, so is all memory. So the fences of such a loop are not replaced. An
/// instruction that may enter a lock has both. While other ranks rest, the instruction is enough.
void in_place_of(const Site& site, const Arrival& arrival) {
    Begun& begun = Begun::of_this_thread();
    if (site.use == Use::loads || site.use == Use::updates) return begin_update(site, arrival);
    if (begun.carried_out_to == site.at) { // the exchange would succeed
        begun.carried_out_to = nullptr;
        begun.end(arrival);
        site.change->finish(static_cast<std::uint64_t>(arrival.registers()[REG_RAX]), arrival.registers());
        return arrival.go_on_behind(site);
    }
    explain::Timed timed(replaced.ranks->record(), explain::Tallied::atomic, reinterpret_cast<std::uintptr_t>(site.at));
    if (site.update && update_in_place_of(site, arrival, timed)) return arrival.go_on_behind(site);
    if (site.use == Use::changes && change_at_home(site, arrival.registers(), timed)) return arrival.go_on_behind(site);
    begun.looks_at = site.variable.address(arrival.registers());
    begun.has_lock = site.use != Use::waits && !replaced.ranks->others_rest();
    if (begun.has_lock) replaced.ranks->acquire(Ranks::instruction_lock);
    begun.begin(arrival);
    arrival.go_on(site.copy);
}

void behind_copy_of(const Site& site, const Arrival& arrival) {
    const Begun& begun = Begun::of_this_thread();
    if (begun.has_lock) replaced.ranks->release(Ranks::instruction_lock);
    if (site.use != Use::changes) replaced.ranks->look_again(site.loop, begun.looks_at);
    begun.end(arrival);
    arrival.go_on_behind(site);
}

/// A thread comes by a jump. Blocks signals as the system does for on_trap().
template <void (*act)(const Site&, const Arrival&)>
void on_jump(mcontext_t& context, const void* given) {
    static thread_local sigset_t mask; // not on the stack, which may be memory that the system cannot write
    const Site& site = *static_cast<const Site*>(given);
    const int error = errno;
    if (handles_signals()) {
        const sigset_t blocked = platform::asynchronous_signals();
        pthread_sigmask(SIG_BLOCK, &blocked, &mask);
        act(site, {context, &mask});
        pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    } else {
        act(site, {context, nullptr});
    }
    errno = error;
}

void on_trap(int signal, siginfo_t*, void* given_context) {
    const int error = errno;
    auto& context = *static_cast<ucontext_t*>(given_context);
    const Arrival arrival{context.uc_mcontext, handles_signals() ? &context.uc_sigmask : nullptr};
    const auto* const at = reinterpret_cast<const std::byte*>(arrival.registers()[REG_RIP]) - 1; // the trap itself
    if (const Site* const copied = replaced.behind_copy(at)) {
        behind_copy_of(*copied, arrival);
    } else if (const Site* const site = replaced.at(at)) {
        in_place_of(*site, arrival);
    } else {
        struct sigaction standard{};
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, nullptr);
        raise(signal);
    }
    errno = error;
}

// -- at the start --

/// Returns false if there is none: a thread that waits shall let others have the processor.
bool write_plain(std::byte* plain, const Decoded& decoded, Use use) {
    if (use == Use::waits || use == Use::enters || !copy_to(plain, decoded)) return false;
    JumpPatches::write_jump(plain + decoded.instruction.length, decoded.end());
    return true;
}

/// Takes the sites, in order, to their copies.
Result<> copy_sites(const Image& image, std::span<const Finding> found, Sites& sites) {
    FunctionCalls calls(image);
    sites.all.reserve(found.size());
    for (const auto& [at, use, loop, found_update] : found) {
        if (!sites.all.empty() && sites.all.back().at == at) continue;
        std::byte* const plain = sites.copies + sites.all.size() * site_bytes;
        std::byte* const copy = plain + plain_bytes;
        const Decoded decoded = *decode({at, longest_instruction});
        const auto change = use == Use::changes ? AtomicChange::of(decoded) : std::nullopt;
        const bool in_place_of_exchange = use == Use::changes && found_update;
        const bool uses_result =
            !(replaced.ranks->gathers() || in_place_of_exchange) ||
            (found_update ? found_update->uses_result(&calls) : change && change->uses_result(decoded.end()));
        const auto update = in_place_of_exchange && uses_result ? std::nullopt : found_update;
        const bool is_emulated = use == Use::loads || (update && update->load == update->use);
        if (is_emulated || copy_to(copy, decoded)) {
            const Site& site = sites.all.emplace_back(at, decoded.instruction.length, copy,
                                                      write_plain(plain, decoded, use) ? plain : nullptr, use, loop,
                                                      variable_of(decoded), change, uses_result, update);
            std::byte* const behind = copy + site.bytes;
            if (is_emulated) continue;
            if (use == Use::updates) JumpPatches::write_jump(behind, decoded.end());
            else if (JumpPatches::possible()) JumpPatches::write_call(behind, at, on_jump<behind_copy_of>, &site);
            else *behind = trap;
        } else if (use != Use::waits)
            return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("{} has an atomic instruction, at {:#x} of the file's "
                                                              "addresses, that cannot be moved",
                                                              file_at(at).dli_fname, at - image.base));
    }
    return {};
}

/// Tells the user if it will take many seconds.
void announce_search(const Image& image) {
    constexpr std::size_t much = std::size_t{32} << 20, megabyte = std::size_t{1} << 20;
    std::size_t bytes = 0;
    for (const auto& code : image.code) bytes += code.size();
    if (bytes < much || replaced.ranks->rank() != 0) return;
    say(fmt::format("reading {} MB of code of {} for atomic instructions; what is found is kept for the next start",
                    bytes / megabyte, file_at(image.code.front().data()).dli_fname));
}

/// Finds the instructions of an image and copies them.
Result<> copy_atomics(const Image& image) {
    const std::vector<Finding> found = find_in(image, [&image] { announce_search(image); });
    if (found.empty()) return {};
    const std::size_t bytes = platform::round_up(found.size() * site_bytes, platform::page_size());
    Sites& sites = replaced.sites.emplace_back(Sites{{}, map_within(Reach::around(image.code.front().data()), bytes)});
    if (sites.copies == nullptr)
        return fail(KUMIKI_ERROR_MEMORY, "there is no memory near the program for copies of its atomic instructions");
    if (auto copied = copy_sites(image, found, sites); !copied) return copied;
    if (mprotect(sites.copies, bytes, PROT_READ | PROT_EXEC) == 0) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot execute copies of atomic instructions (mprotect: {})", std::strerror(errno)));
}

std::optional<JumpPatches::Detour> detour_of(const Site& site) {
    if (site.plain == nullptr) return {};
    return JumpPatches::Detour{&replaced.ranks->rest(), site.plain};
}

/// Replaces the sites in this part of an image.
Result<> replace_in(std::span<std::byte> code, JumpPatches& patches) {
    std::vector<const Site*> found;
    for (const Sites& each : replaced.sites)
        for (const Site& site : each.all)
            if (site.at >= code.data() && site.at < code.data() + code.size()) found.push_back(&site);
    if (found.empty()) return {};
    return change_code(code, [&] {
        for (const Site* const site : std::views::reverse(found))
            if (!patches.replace(code, site->instruction(), on_jump<in_place_of>, site, detour_of(*site)))
                *site->at = trap;
    });
}

} // namespace

Result<> replace_atomics(std::span<const Image> images, Ranks& ranks) {
    replaced.ranks = &ranks;
    for (const Image& image : images)
        if (auto copied = copy_atomics(image); !copied) return copied;
    if (replaced.sites.empty()) return {};
    const auto waits = [](const Site& site) { return site.use == Use::waits || site.use == Use::enters; };
    if (std::ranges::any_of(replaced.sites, [&](const Sites& each) { return std::ranges::any_of(each.all, waits); }))
        if (auto expected = ranks.expect_waits(); !expected) return expected;
    struct sigaction ours{};
    ours.sa_sigaction = on_trap;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    ours.sa_mask = platform::asynchronous_signals();
    if (sigaction(SIGTRAP, &ours, nullptr) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot take the place of atomic instructions ({})", std::strerror(errno)));
    JumpPatches patches;
    for (const Image& image : images)
        for (const auto& code : image.code)
            if (auto done = replace_in(code, patches); !done) return done;
    return patches.finish();
}

} // namespace kumiki::openmp
