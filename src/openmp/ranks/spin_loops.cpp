#include "openmp/ranks/spin_loops.hpp"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <span>
#include <utility>
#include <vector>

namespace kumiki::openmp {
namespace {

/// A register, or a variable by the way in which an instruction names it.
struct Thing {
    ZydisRegister base, index;
    int scale; ///< -1: a register
    std::int64_t displacement;

    bool operator==(const Thing&) const = default;
    bool is_memory() const { return scale >= 0; }
};

ZydisRegister whole(ZydisRegister name) {
    const ZydisRegister longest = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    return longest == ZYDIS_REGISTER_NONE ? name : longest;
}

Thing register_named(ZydisRegister name) { return {whole(name), ZYDIS_REGISTER_NONE, -1, 0}; }

Thing variable_of(const Decoded& decoded, const ZydisDecodedOperandMem& memory) {
    Thing thing{whole(memory.base), whole(memory.index), memory.scale, memory.disp.value};
    // The same variable has another displacement in each instruction.
    if (memory.base == ZYDIS_REGISTER_RIP)
        thing.displacement +=
            static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(decoded.at)) + decoded.instruction.length;
    return thing;
}

bool is_no_operation(const Decoded& decoded) {
    return decoded.instruction.meta.category == ZYDIS_CATEGORY_WIDENOP ||
           decoded.instruction.mnemonic == ZYDIS_MNEMONIC_NOP;
}

/// Calls each(thing, is_read, is_written) for all that an instruction uses, but for the program counter.
template <class Each>
void for_each_use(const Decoded& decoded, Each each) {
    if (is_no_operation(decoded)) return;
    const auto use = [&each](ZydisRegister name, ZydisOperandActions actions) {
        if (name == ZYDIS_REGISTER_NONE || whole(name) == whole(ZYDIS_REGISTER_RIP)) return;
        each(register_named(name), (actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
             (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0);
    };
    for (const ZydisDecodedOperand& operand : std::span(decoded.operands, decoded.instruction.operand_count)) {
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) use(operand.reg.value, operand.actions);
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
        use(operand.mem.base, ZYDIS_OPERAND_ACTION_READ);
        use(operand.mem.index, ZYDIS_OPERAND_ACTION_READ);
        if (operand.mem.type == ZYDIS_MEMOP_TYPE_MEM)
            each(variable_of(decoded, operand.mem), (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
                 (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0);
    }
}

bool leaves_the_loop(const Decoded& decoded) {
    switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT: return true;
    default: return false;
    }
}

/// The program's own memory: what a decoder makes of data among the code may point anywhere.
template <class Value>
const Value* in_program(std::uintptr_t at, const std::byte* code) {
    Dl_info there{}, here{};
    const auto* const value = reinterpret_cast<const Value*>(at);
    const bool known = dladdr(value, &there) != 0 && dladdr(code, &here) != 0;
    return known && there.dli_fbase == here.dli_fbase ? value : nullptr;
}

/// The variable of the linker through which an instruction calls or jumps; 0: none.
std::uintptr_t slot_of(const Decoded& decoded) {
    const ZydisDecodedOperand& where = decoded.operands[0];
    if (where.type != ZYDIS_OPERAND_TYPE_MEMORY || where.mem.base != ZYDIS_REGISTER_RIP) return 0;
    return reinterpret_cast<std::uintptr_t>(decoded.at) + decoded.instruction.length +
           static_cast<std::uintptr_t>(where.mem.disp.value);
}

/// The same, where it calls a piece of code that only jumps on.
std::uintptr_t slot_behind(const Decoded& call) {
    const ZydisDecodedOperand& where = call.operands[0];
    if (where.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return slot_of(call);
    const auto target = reinterpret_cast<std::uintptr_t>(call.at) + call.instruction.length + where.imm.value.u;
    const auto* code = in_program<std::byte>(target, call.at);
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (Decoded next; code != nullptr; code += next.instruction.length) {
        next.at = const_cast<std::byte*>(code); // NOLINT: it is only read
        if (ZYAN_FAILED(
                ZydisDecoderDecodeFull(&decoder, code, ZYDIS_MAX_INSTRUCTION_LENGTH, &next.instruction, next.operands)))
            return 0;
        if (next.instruction.mnemonic == ZYDIS_MNEMONIC_JMP) return slot_of(next);
        if (next.instruction.mnemonic != ZYDIS_MNEMONIC_ENDBR64) return 0;
    }
    return 0;
}

/// Whether it calls a function that tells a thread what does not change while it waits, gives up the processor
/// meanwhile, or is a flush.
bool calls_while_waiting(const Decoded& decoded) {
    if (decoded.instruction.meta.category != ZYDIS_CATEGORY_CALL) return false;
    const auto* const slot = in_program<void*>(slot_behind(decoded), decoded.at);
    if (slot == nullptr || *slot == nullptr) return false;
    constexpr std::array names{"omp_get_thread_num",
                               "omp_get_thread_num_",
                               "omp_get_num_threads",
                               "omp_get_num_threads_",
                               "__kmpc_flush",
                               "__kmpc_global_thread_num",
                               "__kmpc_masked",
                               "__kmpc_master",
                               "sched_yield",
                               "sleep",
                               "usleep",
                               "nanosleep",
                               "clock_nanosleep"};
    return std::ranges::any_of(names, [&](const char* name) {
        // In programs of clang the names have another version, and mean other pieces of code.
        return dlsym(RTLD_DEFAULT, name) == *slot || dlvsym(RTLD_DEFAULT, name, "VERSION") == *slot;
    });
}

using Body = std::span<const Decoded* const>;

/// What compilers make of a flush: MFENCE, or an atomic instruction that changes nothing of the stack.
bool is_fence(const Decoded& decoded) {
    const auto& [at, instruction, operands] = decoded;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE) return true;
    return (instruction.mnemonic == ZYDIS_MNEMONIC_OR || instruction.mnemonic == ZYDIS_MNEMONIC_ADD) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[0].mem.base == ZYDIS_REGISTER_RSP &&
           operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.u == 0;
}

/// Where a jump goes that the instruction itself names; null: it is none.
std::byte* target_of(const Decoded& decoded) {
    const auto category = decoded.instruction.meta.category;
    if (category != ZYDIS_CATEGORY_COND_BR && category != ZYDIS_CATEGORY_UNCOND_BR) return nullptr;
    const ZydisDecodedOperand& where = decoded.operands[0];
    if (where.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || where.imm.is_relative == 0) return nullptr;
    return decoded.at + decoded.instruction.length + where.imm.value.s;
}

/// Whether a thread that executes the first instruction can come to the last one. A backward jump alone makes no loop:
/// compilers put code that is rarely executed behind the rest of its function, from where it jumps back.
bool comes_to_its_end(Body body) {
    std::vector<bool> reached(body.size() + 1); // the last one stands for all that is outside
    reached[0] = true;
    for (bool grows = true; grows;) {
        grows = false;
        const auto reach = [&](std::size_t place) {
            grows = grows || !reached[place];
            reached[place] = true;
        };
        for (std::size_t place = 0; place < body.size(); ++place) {
            if (!reached[place]) continue;
            const auto category = body[place]->instruction.meta.category;
            if (category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_RET) reach(place + 1);
            const auto target = std::ranges::find(body, target_of(*body[place]), &Decoded::at);
            reach(static_cast<std::size_t>(target - body.begin()));
        }
    }
    return reached[body.size() - 1];
}

bool has(const std::vector<Thing>& things, const Thing& thing) {
    return std::ranges::find(things, thing) != things.end();
}

/// What any instruction of the loop writes.
std::vector<Thing> written_in(Body body) {
    std::vector<Thing> written;
    for (const Decoded* const decoded : body)
        if (calls_while_waiting(*decoded)) written.push_back(register_named(ZYDIS_REGISTER_RAX));
        else
            for_each_use(*decoded, [&](const Thing& thing, bool, bool is_written) {
                if (is_written) written.push_back(thing);
            });
    return written;
}

/// Whether it only loads a register with what the loop itself does not change: a constant, which compilers load again
/// behind a call that may have changed the register, or a variable, which they may look at in the next pass only.
bool loads_what_stays(const Decoded& decoded, Body loop) {
    const auto mnemonic = decoded.instruction.mnemonic;
    if (mnemonic != ZYDIS_MNEMONIC_MOV && mnemonic != ZYDIS_MNEMONIC_LEA) return false;
    const std::vector<Thing> changed = written_in(loop);
    bool stays = true;
    for_each_use(decoded, [&](const Thing& thing, bool is_read, bool is_written) {
        stays = stays && !(is_read && has(changed, thing)) && !(is_written && thing.is_memory());
    });
    return stays;
}

/// From the second pass on, as long as no other thread changes what it looks at.
bool does_the_same_each_time(Body body) {
    std::vector<Thing> read, written;
    for (const Decoded* const decoded : body) {
        if (is_fence(*decoded)) continue;
        if (calls_while_waiting(*decoded)) {
            written.push_back(register_named(ZYDIS_REGISTER_RAX));
            continue;
        }
        if (leaves_the_loop(*decoded) || is_atomic(*decoded)) return false;
        std::vector<Thing> changed;
        for_each_use(*decoded, [&](const Thing& thing, bool is_read, bool is_written) {
            if (is_read && !has(written, thing)) read.push_back(thing);
            if (is_written) changed.push_back(thing);
        });
        for (const Thing& thing : changed) {
            if (has(read, thing) && !loads_what_stays(*decoded, body)) return false;
            written.push_back(thing);
        }
    }
    return true;
}

bool is_in(Body body, const std::byte* code) { return code >= body.front()->at && code <= body.back()->at; }

/// Whether the loop may end with it.
bool may_end(const Decoded& decoded, Body body) {
    return decoded.instruction.meta.category == ZYDIS_CATEGORY_COND_BR &&
           (&decoded == body.back() || !is_in(body, target_of(decoded)));
}

std::vector<std::byte*> exits_of(Body body) {
    std::vector<std::byte*> exits{body.back()->at + body.back()->instruction.length};
    for (const Decoded* const decoded : body)
        if (may_end(*decoded, body) && decoded != body.back()) exits.push_back(target_of(*decoded));
    return exits;
}

/// A flush follows each of them, and all by which the loop ends at a place must be loaded before that: else it may end
/// with a variable that another thread has set, and without what that thread has written before. A jump may decide by
/// what the pass before has loaded, so the last one of all is among them. A variable that the loop itself writes is no
/// flag of another thread: unoptimised code keeps its own there.
std::vector<Decoded> deciding_loads(Body body) {
    std::vector<Thing> written;
    for (const Decoded* const decoded : body)
        for_each_use(*decoded, [&](const Thing& thing, bool, bool is_written) {
            if (is_written && thing.is_memory()) written.push_back(thing);
        });
    std::vector<Decoded> loads;
    const Decoded* last = nullptr;
    const auto take_last = [&] {
        if (last != nullptr && (loads.empty() || loads.back().at != last->at)) loads.push_back(*last);
    };
    for (const Decoded* const decoded : body) {
        if (may_end(*decoded, body)) take_last();
        if (is_fence(*decoded) || decoded->instruction.meta.category == ZYDIS_CATEGORY_CALL) continue;
        for_each_use(*decoded, [&](const Thing& thing, bool is_read, bool) {
            if (is_read && thing.is_memory() && !has(written, thing)) last = decoded;
        });
    }
    take_last();
    return loads;
}

bool reads_memory(const Decoded& decoded) {
    bool found = false;
    for_each_use(decoded,
                 [&](const Thing& thing, bool is_read, bool) { found = found || (is_read && thing.is_memory()); });
    return found;
}

} // namespace

bool is_atomic(const Decoded& decoded) {
    const auto& [at, instruction, operands] = decoded;
    if ((instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) return true;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_MFENCE) return true;
    return instruction.mnemonic == ZYDIS_MNEMONIC_XCHG &&
           (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY || operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY);
}

std::optional<SpinLoop> SpinLoops::ends_with(const Decoded& decoded) {
    if (before_.size() == longest) before_.pop_front();
    before_.push_back(decoded);
    std::byte* const target = target_of(decoded);
    if (target == nullptr) return {};
    const auto begin = std::ranges::find(before_, target, &Decoded::at);
    if (begin == before_.end()) return {};
    std::vector<const Decoded*> body;
    for (auto each = begin; each != before_.end(); ++each) body.push_back(&*each);
    if (!does_the_same_each_time(body) || !comes_to_its_end(body)) return {};
    std::vector<Decoded> loads = deciding_loads(body);
    if (loads.empty()) return {};
    return SpinLoop{target, decoded.at, std::move(loads), exits_of(body)};
}

LooksBefore::LooksBefore(std::span<const SpinLoop> loops) {
    for (const SpinLoop& loop : loops) {
        Loop& known = loops_[loop.begin];
        known.end = std::max(known.end, loop.end);
        known.exits.insert(known.exits.end(), loop.exits.begin(), loop.exits.end());
    }
}

const LooksBefore::Loop* LooksBefore::entered_by(const Decoded& decoded) const {
    if (const auto loop = loops_.find(decoded.at); loop != loops_.end()) return &loop->second; // from the one before
    const auto loop = loops_.find(target_of(decoded));
    const bool enters = loop != loops_.end() && (decoded.at < loop->first || decoded.at > loop->second.end);
    return enters ? &loop->second : nullptr;
}

std::vector<Decoded> LooksBefore::end_with(const Decoded& decoded) {
    const auto category = decoded.instruction.meta.category;
    ++age_;
    if (category == ZYDIS_CATEGORY_COND_BR) {
        if (jumps_.size() == most) jumps_.pop_front();
        jumps_.push_back({age_ <= longest ? load_ : std::nullopt, target_of(decoded)});
    }
    std::vector<Decoded> found;
    if (const Loop* const loop = entered_by(decoded))
        for (const Jump& jump : jumps_)
            if (jump.load && (&jump == &jumps_.back() || std::ranges::count(loop->exits, jump.target) != 0))
                found.push_back(*jump.load);
    if (category == ZYDIS_CATEGORY_UNCOND_BR || leaves_the_loop(decoded)) {
        load_.reset();
        jumps_.clear();
    } else if (!is_atomic(decoded) && reads_memory(decoded)) {
        load_ = decoded;
        age_ = 0;
    }
    return found;
}

} // namespace kumiki::openmp
