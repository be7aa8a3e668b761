#include "openmp/ranks/code/live_registers.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

#include "openmp/ranks/code/instructions.hpp"

namespace kumiki::openmp {
namespace {

constexpr Registers general(int number) { return Registers{1} << number; }
constexpr Registers vector(int number) { return Registers{1} << (16 + number); }

// System V Application Binary Interface, AMD64 Architecture Processor Supplement, section 3.2; the numbers are the
// processor's.
constexpr Registers kept_by_functions =
    general(3) | general(4) | general(5) | general(12) | general(13) | general(14) | general(15);

/// 0: of another kind.
Registers bit_of(ZydisRegister name) {
    const auto number = ZydisRegisterGetId(name);
    if (number < 0 || number > 15) return 0;
    switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_GPR64: return general(number);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM: return vector(number);
    default: return 0;
    }
}

struct Uses {
    Registers read = 0, written = 0;
};

Uses uses_of(const Decoded& decoded) {
    Uses uses;
    for_each_use(decoded, [&](const Thing& thing, bool is_read, bool is_written) {
        if (thing.is_memory()) return;
        if (is_read) uses.read |= bit_of(thing.base);
        if (is_written) uses.written |= bit_of(thing.base);
    });
    constexpr ZydisAccessedFlagsMask all =
        ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_PF;
    const ZydisAccessedFlags& of_instruction = *decoded.instruction.cpu_flags;
    const ZydisAccessedFlagsMask written =
        of_instruction.modified | of_instruction.set_0 | of_instruction.set_1 | of_instruction.undefined;
    if ((of_instruction.tested & all) != 0) uses.read |= arithmetic_flags;
    if ((written & all) == all) uses.written |= arithmetic_flags;
    return uses;
}

} // namespace

Registers written_by(std::byte* begin, const std::byte* end) {
    Registers written = 0;
    for (auto decoded = decode({begin, longest_instruction}); decoded && decoded->at < end;
         decoded = decode({decoded->end(), longest_instruction}))
        written |= uses_of(*decoded).written;
    return written;
}

bool uses_any(std::byte* begin, Registers of_interest) {
    constexpr std::size_t most = 2048; // instructions: a large loop of a program has more than a thousand
    struct Way {
        std::byte* at;
        Registers live;
    };
    std::unordered_map<std::byte*, Registers> seen; // what has been followed from there
    std::vector<Way> next{{begin, of_interest}};
    while (!next.empty()) {
        auto [at, live] = next.back();
        next.pop_back();
        if (at == nullptr) continue;
        live &= ~std::exchange(seen[at], seen[at] | live);
        if (live == 0) continue;
        const auto decoded = decode({at, longest_instruction});
        if (!decoded || seen.size() > most) return true;
        const Uses uses = uses_of(*decoded);
        if ((uses.read & live) != 0) return true;
        live &= ~uses.written;
        const auto category = decoded->instruction.meta.category;
        if (category == ZYDIS_CATEGORY_UNCOND_BR && jump_target_of(*decoded) == nullptr) return true;
        if (leaves_the_function(*decoded)) live &= kept_by_functions;
        for (std::byte* const each : successors_of(*decoded)) next.push_back({each, live});
    }
    return false;
}

} // namespace kumiki::openmp
