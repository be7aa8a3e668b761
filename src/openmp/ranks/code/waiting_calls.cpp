#include "openmp/ranks/code/waiting_calls.hpp"

#include <algorithm>
#include <array>
#include <dlfcn.h>

namespace kumiki::openmp {
namespace {

/// What a decoder makes of data among the code may point anywhere.
bool is_in(const std::vector<std::span<std::byte>>& memory, std::uintptr_t address) {
    return std::ranges::any_of(memory, [address](std::span<std::byte> each) {
        const auto begin = reinterpret_cast<std::uintptr_t>(each.data());
        return address >= begin && address < begin + each.size();
    });
}

/// Whether it takes from the stack what the function has left there for itself, or for its caller.
bool restores_registers(const Decoded& decoded) {
    const auto mnemonic = decoded.instruction.mnemonic;
    return mnemonic == ZYDIS_MNEMONIC_POP || mnemonic == ZYDIS_MNEMONIC_LEAVE || mnemonic == ZYDIS_MNEMONIC_RET;
}

/// Whether it is one of those by which functions make and leave their stack: then what the others name by these
/// registers is the function's own.
bool keeps_stack(const Decoded& decoded) {
    if (restores_registers(decoded)) return true;
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH: return true;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_ADD: return decoded.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    case ZYDIS_MNEMONIC_MOV: return decoded.operands[1].reg.value == ZYDIS_REGISTER_RSP;
    default: return false;
    }
}

/// The place of the stack that a function reads or writes with a plain copy, and nothing else; nothing: it is none.
std::optional<Thing> copied_slot(const Decoded& decoded, const ZydisDecodedOperand& operand) {
    if (decoded.instruction.mnemonic != ZYDIS_MNEMONIC_MOV || operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return {};
    const Thing slot = variable_of(decoded, operand.mem);
    return slot.is_on_stack() ? std::optional(slot) : std::nullopt;
}

/// Where a function keeps addresses of its own variables, as unoptimised code does with those that it passes on.
class OwnAddresses {
public:
    explicit OwnAddresses(Body body) : body_(body) {
        for (std::size_t place = 0; place < body.size(); ++place)
            for_each_use(*body[place], [&](const Thing& thing, bool, bool is_written) {
                if (!is_written || !thing.is_on_stack()) return;
                const auto slot = copied_slot(*body[place], body[place]->operands[0]);
                const bool own = slot && has_own(register_named(body[place]->operands[1].reg.value), place);
                (own && !has(others_, thing) ? slots_ : others_).push_back(thing);
            });
    }
    /// Whether a register has one when the instruction at this place begins.
    bool has_own(const Thing& name, std::size_t place) const {
        while (place-- > 0) {
            const Decoded& before = *body_[place];
            if (is_jump(before)) return false;
            bool is_set = false;
            for_each_use(before, [&](const Thing& thing, bool, bool is_written) {
                is_set = is_set || (is_written && thing == name);
            });
            if (is_set) return sets_own(before);
        }
        return false;
    }

private:
    bool sets_own(const Decoded& decoded) const {
        const ZydisDecodedOperand& source = decoded.operands[1];
        if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_LEA)
            return source.mem.base == ZYDIS_REGISTER_RBP || source.mem.base == ZYDIS_REGISTER_RSP;
        const auto slot = copied_slot(decoded, source);
        return slot && has(slots_, *slot) && !has(others_, *slot);
    }

    Body body_;
    std::vector<Thing> slots_, others_; ///< with own addresses, and with anything else
};

/// Whether an instruction at this place names a variable of the function by its address.
bool is_own(const Thing& thing, std::size_t place, const OwnAddresses& own_addresses) {
    return thing.index == ZYDIS_REGISTER_NONE && thing.displacement == 0 &&
           own_addresses.has_own(register_named(thing.base), place);
}

/// Whether the instruction at this place writes nothing but registers and variables of its function.
bool writes_own_only(Body body, std::size_t place, const OwnAddresses& own_addresses) {
    const Decoded& decoded = *body[place];
    if (is_atomic(decoded) && !is_fence(decoded)) return false;
    bool own = true;
    for_each_use(decoded, [&](const Thing& thing, bool, bool is_written) {
        if (!is_written) return;
        const bool is_stack_pointer =
            thing == register_named(ZYDIS_REGISTER_RSP) || thing == register_named(ZYDIS_REGISTER_RBP);
        if (!thing.is_memory()) own = own && (!is_stack_pointer || keeps_stack(decoded));
        else own = own && (thing.is_on_stack() || is_own(thing, place, own_addresses));
    });
    return own;
}

/// By these a function ends the process when it finds something wrong.
constexpr std::array names_of_ends = {
    "__stack_chk_fail",
    "__assert_fail",
    "abort",
    "_ZSt21__glibcxx_assert_failPKciS0_S0_", // std::__glibcxx_assert_fail
};

/// Others that a loop may call while it waits.
constexpr std::array names_of_waits = {
    "omp_get_thread_num",
    "omp_get_thread_num_",
    "omp_get_num_threads",
    "omp_get_num_threads_",
    "omp_get_wtime",
    "omp_get_wtime_",
    "GOMP_taskyield",
    "GOMP_taskwait",
    "__kmpc_omp_taskyield",
    "__kmpc_omp_taskwait",
    "__kmpc_flush",
    "__kmpc_global_thread_num",
    "__kmpc_masked",
    "__kmpc_master",
    "__errno_location",
    "sched_yield",
    "thrd_yield",
    "sleep",
    "thrd_sleep",
    "syscall",
    "usleep",
    "nanosleep",
    "clock_nanosleep",
    "clock_gettime",
    "gettimeofday",
    "time",
    "clock",
    "_ZNSt6chrono3_V212steady_clock3nowEv",
    "_ZNSt6chrono3_V212system_clock3nowEv",
};

using Functions = std::vector<const void*>;

Functions functions_named(std::span<const char* const> names) {
    Functions found;
    for (const char* const name : names) {
        found.push_back(dlsym(RTLD_DEFAULT, name));
        // In programs of clang the names have another version, and mean other pieces of code.
        found.push_back(dlvsym(RTLD_DEFAULT, name, "VERSION"));
    }
    std::erase(found, nullptr);
    return found;
}

bool is_among(const Functions& functions, std::uintptr_t slot) {
    return std::ranges::find(functions, *reinterpret_cast<const void* const*>(slot)) != functions.end();
}

bool leads_to_end(std::uintptr_t slot) {
    static const Functions ends = functions_named(names_of_ends);
    return is_among(ends, slot);
}

bool leads_to_waiting_function(std::uintptr_t slot) {
    static const Functions waits = functions_named(names_of_waits);
    return is_among(waits, slot) || leads_to_end(slot);
}

} // namespace

WaitingCalls::WaitingCalls(const Image& program) : program_(program) {}

bool WaitingCalls::may_be_shared(const Thing& thing) const {
    const bool is_constant =
        thing.base == ZYDIS_REGISTER_RIP && !is_in({program_.data}, static_cast<std::uintptr_t>(thing.displacement));
    return thing.is_memory() && !is_constant;
}

std::span<std::byte> WaitingCalls::code_from(const std::byte* at) const {
    for (const std::span<std::byte> segment : program_.code)
        if (at >= segment.data() && at < segment.data() + segment.size())
            return segment.subspan(static_cast<std::size_t>(at - segment.data()));
    return {};
}

/// The variable of the linker through which it calls, itself or by a piece of code that only jumps on; 0: there is
/// none.
std::uintptr_t WaitingCalls::slot_behind(const Decoded& call) const {
    if (target_of(call) == nullptr) return slot_of(call);
    for (auto code = code_from(target_of(call));;) {
        const auto next = decode(code);
        if (next && next->instruction.mnemonic == ZYDIS_MNEMONIC_JMP) return slot_of(*next);
        if (!next || next->instruction.mnemonic != ZYDIS_MNEMONIC_ENDBR64) return 0;
        code = code.subspan(next->instruction.length);
    }
}

bool WaitingCalls::is_of_library(const Decoded& call) {
    const std::uintptr_t at = slot_behind(call);
    if (!is_in(program_.segments, at)) return false;
    if (const auto known = std::ranges::find(slots_, at, &Slot::at); known != slots_.end()) return known->waits;
    return slots_.emplace_back(Slot{at, leads_to_waiting_function(at)}).waits;
}

bool WaitingCalls::ends_process(const Decoded& decoded) const {
    const std::uintptr_t at = is_call(decoded) ? slot_behind(decoded) : 0;
    return is_in(program_.segments, at) && leads_to_end(at);
}

bool WaitingCalls::is_still_true(const Slot& slot) { return leads_to_waiting_function(slot.at) == slot.waits; }

const std::optional<std::vector<Decoded>>& WaitingCalls::loads_of(const Decoded& call) {
    static const Loads none = std::vector<Decoded>{}, unknown;
    if (!is_call(call)) return unknown;
    if (is_of_library(call)) return none;
    const auto code = code_from(target_of(call));
    if (code.empty()) return unknown;
    const auto [place, is_new] = known_.try_emplace(code.data()); // a function that calls itself finds nothing here
    if (is_new) place->second = loads_of_function(code);
    return place->second;
}

/// The function must have no loops, and no jumps but to what it names. It ends with a return, or an end of the process,
/// behind which no jump leads.
std::optional<std::vector<Decoded>> WaitingCalls::loads_of_function(std::span<std::byte> code) {
    std::vector<Decoded> body;
    const std::byte* furthest = code.data();
    while (body.size() < longest) {
        const auto decoded = decode(code);
        if (!decoded) return {};
        code = code.subspan(decoded->instruction.length);
        body.push_back(*decoded);
        if (is_jump(*decoded)) {
            const std::byte* const target = jump_target_of(*decoded);
            if (target <= decoded->at) return {};
            furthest = std::max(furthest, target);
        }
        const bool ends = decoded->instruction.meta.category == ZYDIS_CATEGORY_RET || ends_process(*decoded);
        if (ends && decoded->at >= furthest) {
            std::vector<const Decoded*> each;
            for (const Decoded& instruction : body) each.push_back(&instruction);
            return loads_of_body(each);
        }
    }
    return {};
}

std::optional<std::vector<Decoded>> WaitingCalls::loads_of_body(Body body) {
    const OwnAddresses own_addresses(body);
    for (std::size_t place = 0; place < body.size(); ++place) {
        const Decoded& decoded = *body[place];
        const bool returns = decoded.instruction.meta.category == ZYDIS_CATEGORY_RET;
        if (is_call(decoded)
                ? !loads_of(decoded)
                : (leaves_the_function(decoded) && !returns) || !writes_own_only(body, place, own_addresses))
            return {};
    }
    auto loads = deciding_loads(body);
    std::erase_if(loads, reads_stack_only);
    return loads;
}

std::vector<Decoded> WaitingCalls::deciding_loads(Body code, Body left_out) {
    const OwnAddresses own_addresses(code);
    std::vector<Thing> written;
    for (std::size_t place = 0; place < code.size(); ++place)
        for_each_use(*code[place], [&](const Thing& thing, bool, bool is_written) {
            if (is_written && thing.is_memory() && !is_own(thing, place, own_addresses)) written.push_back(thing);
        });
    std::vector<Decoded> loads, last, last_elsewhere; // elsewhere than on the stack
    const auto take_last = [&] {
        for (const auto* const each : {&last_elsewhere, &last})
            for (const Decoded& load : *each)
                if (std::ranges::find(loads, load.at, &Decoded::at) == loads.end()) loads.push_back(load);
    };
    bool has_loaded = false; // since the last jump
    for (std::size_t place = 0; place < code.size(); ++place) {
        const Decoded* const decoded = code[place];
        const auto category = decoded->instruction.meta.category;
        const bool leads_on = category == ZYDIS_CATEGORY_UNCOND_BR && !has_loaded;
        if (category == ZYDIS_CATEGORY_RET ||
            (is_jump(*decoded) && !leads_on && std::ranges::find(left_out, decoded) == left_out.end()))
            take_last();
        if (is_jump(*decoded)) has_loaded = false;
        if (is_call(*decoded)) {
            if (const auto& called = loads_of(*decoded); called && !called->empty()) {
                last = last_elsewhere = *called;
                has_loaded = true;
            }
            continue;
        }
        if (is_fence(*decoded) || restores_registers(*decoded) || reads_stack_guard(*decoded)) continue;
        for_each_use(*decoded, [&](const Thing& thing, bool is_read, bool) {
            if (!is_read || !may_be_shared(thing) || has(written, thing) || is_own(thing, place, own_addresses)) return;
            last = {*decoded};
            has_loaded = true;
            if (!thing.is_on_stack()) last_elsewhere = last;
        });
    }
    return loads;
}

} // namespace kumiki::openmp
