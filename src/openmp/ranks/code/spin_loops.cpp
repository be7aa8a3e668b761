#include "openmp/ranks/code/spin_loops.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace kumiki::openmp {
namespace {

bool is_in(Body body, const std::byte* code) { return std::ranges::binary_search(body, code, {}, &Decoded::at); }

/// The natural loop of the jump at the end of this code back to its beginning: what a thread may execute between them.
/// Other code may lie there besides: how the function goes on when the loop has ended, if the programmer expects that
/// it need not wait, and pieces for exceptions, to which no jump leads.
std::vector<const Decoded*> natural_loop(Body code) {
    const std::size_t none = code.size();
    const auto place_of = [&](const std::byte* at) {
        const auto found = std::ranges::lower_bound(code, at, {}, &Decoded::at);
        return found != code.end() && (*found)->at == at ? static_cast<std::size_t>(found - code.begin()) : none;
    };
    std::vector<std::array<std::size_t, 2>> successors(code.size());
    for (std::size_t place = 0; place < code.size(); ++place) {
        const auto [next, target] = successors_of(*code[place]);
        const bool goes_on = next != nullptr && place + 1 < none && code[place + 1]->at == next;
        successors[place] = {goes_on ? place + 1 : none, target != nullptr ? place_of(target) : none};
    }
    std::vector<bool> from_beginning(code.size()), to_end(code.size());
    from_beginning.front() = to_end.back() = true;
    for (bool changes = true; std::exchange(changes, false);)
        for (std::size_t place = 0; place < code.size(); ++place) // most ways lead on
            for (const std::size_t next : successors[place])
                if (next != none && from_beginning[place] && !from_beginning[next])
                    changes = from_beginning[next] = true;
    for (bool changes = true; std::exchange(changes, false);)
        for (std::size_t place = code.size(); place-- > 0;)
            for (const std::size_t next : successors[place])
                if (next != none && next != 0 && to_end[next] && !to_end[place]) changes = to_end[place] = true;
    std::vector<const Decoded*> loop;
    for (std::size_t place = 0; place < code.size(); ++place)
        if (from_beginning[place] && to_end[place]) loop.push_back(code[place]);
    return loop;
}

/// In what a function returns its result.
std::vector<Thing> returned() { return {register_named(ZYDIS_REGISTER_RAX), register_named(ZYDIS_REGISTER_XMM0)}; }

/// What any instruction of the loop writes.
std::vector<Thing> written_in(Body body) {
    std::vector<Thing> written;
    for (const Decoded* const decoded : body)
        if (is_call(*decoded)) std::ranges::copy(returned(), std::back_inserter(written));
        else
            for_each_use(*decoded, [&](const Thing& thing, bool, bool is_written) {
                if (is_written) written.push_back(thing);
            });
    return written;
}

/// Whether the loop does nothing with the register but compare it.
bool only_compares(const Thing& name, Body loop) {
    return std::ranges::all_of(loop, [&name](const Decoded* decoded) {
        bool reads = false;
        for_each_use(*decoded,
                     [&](const Thing& thing, bool is_read, bool) { reads = reads || (is_read && thing == name); });
        const auto mnemonic = decoded->instruction.mnemonic;
        return !reads || mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_TEST;
    });
}

/// Whether it only loads a register with what the loop itself does not change: a variable, which compilers may look at
/// in the next pass only; an address; a constant, which they load again behind a call that may have changed the
/// register; or one that says how far the loop has come. Any other constant is how a loop of two passes comes to its
/// second one.
bool loads_what_stays(const Decoded& decoded, Body loop) {
    const auto mnemonic = decoded.instruction.mnemonic;
    if (mnemonic != ZYDIS_MNEMONIC_MOV && mnemonic != ZYDIS_MNEMONIC_LEA) return false;
    const bool is_behind_call = std::ranges::any_of(
        loop, [&decoded](const Decoded* other) { return is_call(*other) && other->at < decoded.at; });
    const std::vector<Thing> changed = written_in(loop);
    bool stays = true;
    for_each_use(decoded, [&](const Thing& thing, bool is_read, bool is_written) {
        if (is_read) stays = stays && !has(changed, thing);
        if (!is_written) return;
        const bool is_number = mnemonic == ZYDIS_MNEMONIC_MOV && !reads_memory(decoded);
        stays = stays && !thing.is_memory() && (!is_number || is_behind_call || only_compares(thing, loop));
    });
    return stays;
}

/// What a plain copy, of a register or of a place of the stack, takes its value from; nothing: it does something else.
std::optional<Thing> copied_by(const Decoded& decoded) {
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSS: break;
    default: return {};
    }
    const ZydisDecodedOperand& source = decoded.operands[1];
    if (source.type == ZYDIS_OPERAND_TYPE_REGISTER) return register_named(source.reg.value);
    if (source.type != ZYDIS_OPERAND_TYPE_MEMORY) return {};
    const Thing slot = variable_of(decoded, source.mem);
    return slot.is_on_stack() ? std::optional(slot) : std::nullopt;
}

/// The only thing from which the loop copies this; nothing: the loop changes it in another way, or not at all.
std::optional<Thing> copied_from(const Thing& thing, Body loop) {
    std::optional<Thing> from;
    for (const Decoded* const decoded : loop) {
        bool is_changed = false;
        for_each_use(*decoded, [&](const Thing& used, bool, bool is_written) {
            is_changed = is_changed || (is_written && used == thing);
        });
        if (!is_changed) continue;
        const auto source = copied_by(*decoded);
        if (!source || (from && from != source)) return {};
        from = source;
    }
    return from;
}

/// Whether the loop keeps it on the stack while it calls a function, which may change the register.
bool is_saved(const Thing& thing, Body loop) {
    const auto place = copied_from(thing, loop);
    return place && copied_from(*place, loop) == thing;
}

/// Whether they are the same, or may be elements of the same array.
bool may_overlap(const Thing& one, const Thing& other) {
    if (one == other) return true;
    const bool has_index = one.index != ZYDIS_REGISTER_NONE || other.index != ZYDIS_REGISTER_NONE;
    return one.is_memory() && other.is_memory() && one.base == other.base && has_index;
}

/// What the loop takes over from the pass before, of what it changes itself, if no other thread changes what it looks
/// at; nothing: it does what no loop does that only waits.
std::optional<std::vector<Thing>> counters_of(Body body, WaitingCalls& calls) {
    std::vector<Thing> read, written, counters;
    for (const Decoded* const decoded : body) {
        if (is_fence(*decoded)) continue;
        if (is_call(*decoded)) {
            if (!calls.loads_of(*decoded)) return {};
            std::ranges::copy(returned(), std::back_inserter(written));
            continue;
        }
        if (leaves_the_function(*decoded) || is_atomic(*decoded)) return {};
        std::vector<Thing> changed;
        for_each_use(*decoded, [&](const Thing& thing, bool is_read, bool is_written) {
            if (is_read && !has(written, thing)) read.push_back(thing);
            if (is_written) changed.push_back(thing);
        });
        for (const Thing& thing : changed) {
            const bool changes_what_was_read =
                std::ranges::any_of(read, [&thing](const Thing& each) { return may_overlap(each, thing); });
            if (changes_what_was_read && !loads_what_stays(*decoded, body) && !is_saved(thing, body))
                counters.push_back(thing);
            written.push_back(thing);
        }
    }
    return counters;
}

/// Whether the last jump compares a register with the constant that each pass gives it, whatever it finds: the second
/// of two passes. The first one, with another constant, begins behind that.
bool is_second_of_two(Body body) {
    const auto constant_of = [](const Decoded& decoded) -> std::optional<std::pair<Thing, std::int64_t>> {
        if (decoded.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            decoded.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return {};
        return std::pair(register_named(decoded.operands[0].reg.value), decoded.operands[1].imm.value.s);
    };
    if (body.size() < 3 || body.back()->instruction.mnemonic != ZYDIS_MNEMONIC_JNZ) return false;
    const Decoded& comparison = *body[body.size() - 2];
    const auto compared = constant_of(comparison);
    if (comparison.instruction.mnemonic != ZYDIS_MNEMONIC_CMP || !compared) return false;
    bool is_set = false, may_be_left_out = false;
    for (const Decoded* const decoded : body.first(body.size() - 2)) {
        may_be_left_out = may_be_left_out || is_jump(*decoded);
        for_each_use(*decoded, [&](const Thing& thing, bool, bool is_written) {
            if (!is_written || thing != compared->first) return;
            const bool is_constant = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOV;
            is_set = is_constant && !may_be_left_out && constant_of(*decoded) == compared;
        });
    }
    return is_set;
}

bool compares(const Decoded& decoded) {
    switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_COMISD:
    case ZYDIS_MNEMONIC_COMISS:
    case ZYDIS_MNEMONIC_UCOMISD:
    case ZYDIS_MNEMONIC_UCOMISS: return true;
    default: return false;
    }
}

/// Whether the loop changes this register only by a constant in each pass.
bool is_stepped(const Thing& thing, Body body) {
    return std::ranges::all_of(body, [&thing](const Decoded* decoded) {
        bool is_changed = false;
        for_each_use(*decoded, [&](const Thing& used, bool, bool is_written) {
            is_changed = is_changed || (is_written && used == thing);
        });
        const auto mnemonic = decoded->instruction.mnemonic;
        const bool adds = (mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_SUB) &&
                          decoded->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        return !is_changed || adds || mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC;
    });
}

/// The jumps that compare what the loop counts with a variable: after enough passes it ends though nobody changes the
/// variable, as a loop does whose purpose is that time passes, and whose limit is not kept in a register. So it does
/// not wait for that variable. Nor does it at a jump that compares its counter with a constant, whatever it has loaded
/// before.
std::vector<const Decoded*> jumps_at_limits(Body body, const std::vector<Thing>& counters) {
    std::vector<Thing> counted = counters, loaded;
    std::vector<const Decoded*> found;
    bool at_limit = false;
    for (const Decoded* const decoded : body) {
        if (is_jump(*decoded)) {
            if (at_limit) found.push_back(decoded);
            continue;
        }
        const auto& operands = decoded->operands;
        const auto is_one_of = [&](const std::vector<Thing>& things, std::size_t operand) {
            const ZydisDecodedOperand& named = operands[operand];
            if (named.type == ZYDIS_OPERAND_TYPE_MEMORY) return has(things, variable_of(*decoded, named.mem));
            return named.type == ZYDIS_OPERAND_TYPE_REGISTER && has(things, register_named(named.reg.value));
        };
        const auto is_variable = [&](std::size_t operand) {
            return operands[operand].type == ZYDIS_OPERAND_TYPE_MEMORY || is_one_of(loaded, operand);
        };
        const bool is_constant = operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                                 operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                                 is_stepped(register_named(operands[0].reg.value), body);
        at_limit = compares(*decoded) && ((is_one_of(counted, 0) && (is_variable(1) || is_constant)) ||
                                          (is_one_of(counted, 1) && is_variable(0)));
        bool counts = false;
        for_each_use(*decoded, [&](const Thing& thing, bool is_read, bool) {
            counts = counts || (is_read && has(counted, thing));
        });
        for_each_use(*decoded, [&](const Thing& thing, bool, bool is_written) {
            if (!is_written) return;
            std::erase(counted, thing);
            std::erase(loaded, thing);
            if (counts) counted.push_back(thing);
            else if (reads_memory(*decoded)) loaded.push_back(thing);
        });
    }
    return found;
}

/// The instruction before the loop from which on these registers get values that do not depend on what was before;
/// null: there is none nearby. The loop is the last `length` instructions.
std::byte* sets_anew(const LastInstructions& code, std::size_t length, std::vector<Thing> counters) {
    constexpr std::size_t near = 12;
    for (std::size_t number = length; number < std::min(length + near, code.size()); ++number) {
        const Decoded decoded = code[number];
        const bool sets = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV || is_zeroing(decoded);
        if (!sets || reads_memory(decoded)) continue;
        for_each_use(decoded, [&](const Thing& thing, bool, bool is_written) {
            if (is_written) std::erase(counters, thing);
        });
        if (counters.empty()) return decoded.at;
    }
    return nullptr;
}

/// The registers that instructions of the loop have just given what stays: unoptimised code loads an address anew for
/// each use, by a register that has something else in between.
class GivenAnew {
public:
    explicit GivenAnew(Body loop) : loop_(loop) {
        for (const Decoded* const decoded : loop)
            if (is_jump(*decoded)) targets_.push_back(jump_target_of(*decoded));
    }
    void begin(const Decoded& decoded) { // a jump to here leaves out what is before
        if (std::ranges::find(targets_, decoded.at) != targets_.end()) given_.clear();
    }
    void end(const Decoded& decoded) {
        if (is_call(decoded)) given_.clear();
        const bool gives = loads_what_stays(decoded, loop_);
        for_each_use(decoded, [&](const Thing& thing, bool, bool is_written) {
            if (!is_written) return;
            std::erase(given_, thing);
            if (gives) given_.push_back(thing);
        });
    }
    bool has(const Thing& name) const { return kumiki::openmp::has(given_, name); }

private:
    Body loop_;
    std::vector<const std::byte*> targets_;
    std::vector<Thing> given_;
};

/// Whether it looks at the same variables in each pass, and changes nothing but registers and its own variables on the
/// stack. Compilers load a variable that is not on the stack anew in each pass only because the program asks for that
/// (volatile, atomic), or because they do not optimise.
bool looks_at_the_same_variables(Body body, WaitingCalls& calls) {
    std::vector<Thing> changed;
    for (const Decoded* const decoded : body)
        if (!is_call(*decoded) && !loads_what_stays(*decoded, body))
            for_each_use(*decoded, [&](const Thing& thing, bool, bool is_written) {
                if (is_written) changed.push_back(thing);
            });
    GivenAnew given(body);
    const auto is_changed = [&](ZydisRegister name) {
        const Thing thing = register_named(name);
        return name != ZYDIS_REGISTER_NONE && has(changed, thing) && !given.has(thing);
    };
    bool looks = false;
    const bool same = std::ranges::all_of(body, [&](const Decoded* decoded) {
        if (is_fence(*decoded)) return true;
        given.begin(*decoded);
        bool stays =
            is_call(*decoded) ? calls.is_of_library(*decoded) : !leaves_the_function(*decoded) && !is_atomic(*decoded);
        for_each_use(*decoded, [&](const Thing& thing, bool, bool is_written) {
            if (is_call(*decoded) || !thing.is_memory()) return;
            looks = looks || (calls.may_be_shared(thing) && !thing.is_on_stack());
            stays =
                stays && (!is_written || thing.is_on_stack()) && !is_changed(thing.base) && !is_changed(thing.index);
        });
        given.end(*decoded);
        return stays;
    });
    return same && looks;
}

/// Where the program goes on.
std::vector<std::byte*> exits_of(Body body) {
    std::vector<std::byte*> exits;
    for (const Decoded* const decoded : body)
        for (std::byte* const next : successors_of(*decoded))
            if (next != nullptr && !is_in(body, next)) exits.push_back(next);
    return exits;
}

} // namespace

void SpinLoops::add(const Glance& glance) {
    before_.add(glance);
    if (glance.jump_target() == nullptr || glance.jump_target() > glance.at) return;
    if (auto loop = from(glance.jump_target())) loops_.push_back(std::move(*loop));
    else other_loops_.push_back({glance.at, glance.jump_target()});
}

/// The loop that ends with the last instruction. A flush follows each of its loads: else it may end with a variable
/// that another thread has set, and without what that thread has written before. A backward jump alone makes no loop:
/// compilers put code that is rarely executed behind the rest of its function, from where it jumps back.
std::optional<SpinLoop> SpinLoops::from(std::byte* begin) {
    const std::size_t length = before_.since(begin);
    if (length == 0) return {};
    std::vector<Decoded> decoded;
    decoded.reserve(length);
    for (std::size_t number = length; number-- > 0;) decoded.push_back(before_[number]);
    std::vector<const Decoded*> code;
    for (const Decoded& each : decoded) code.push_back(&each);
    const std::vector<const Decoded*> body = natural_loop(code);
    if (body.empty() || body.front() != code.front() || body.back() != code.back()) return {};
    const auto counters = counters_of(body, calls_);
    if (!counters || is_second_of_two(body)) return {};
    auto loads = calls_.deciding_loads(body, jumps_at_limits(body, *counters));
    SpinLoop loop{begin, decoded.back().at, {}, std::move(loads), exits_of(body), begin};
    std::ranges::transform(body, std::back_inserter(loop.body), &Decoded::at);
    if (!counters->empty()) {
        if (!looks_at_the_same_variables(body, calls_)) return {};
        loop.entry = sets_anew(before_, length, *counters);
    }
    if (loop.entry == nullptr || std::ranges::all_of(loop.loads, reads_stack_only)) return {};
    return loop;
}

/// A loop that leaves out its work in some passes jumps back before the work, too, and its counter goes on.
std::vector<SpinLoop> SpinLoops::found() const {
    std::vector<SpinLoop> found = loops_;
    std::erase_if(found, [this](const SpinLoop& loop) {
        return loop.entry < loop.begin && std::ranges::any_of(
                                              other_loops_,
                                              [&loop](const Jump& jump) {
                                                  return jump.from > loop.end && jump.to > loop.entry &&
                                                         jump.to <= loop.end;
                                              });
    });
    return found;
}

} // namespace kumiki::openmp
