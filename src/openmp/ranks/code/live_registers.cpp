#include "openmp/ranks/code/live_registers.hpp"

#include <array>
#include <dlfcn.h>
#include <unordered_map>
#include <unordered_set>
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

constexpr std::size_t most = 2048; ///< instructions: a large loop of a program has more than a thousand

/// Whether a thread that is at `from` may come to `to`, in this function; if in doubt, it may not.
bool may_come(std::byte* from, const std::byte* to) {
    std::unordered_set<std::byte*> seen;
    std::vector<std::byte*> next{from};
    while (!next.empty() && seen.size() <= most) {
        std::byte* const at = next.back();
        next.pop_back();
        if (at == to) return true;
        if (at == nullptr || !seen.insert(at).second) continue;
        if (const auto decoded = decode({at, longest_instruction}))
            for (std::byte* const each : successors_of(*decoded)) next.push_back(each);
    }
    return false;
}

/// Of two numbers that a function may return, an update makes one.
constexpr Registers returned = vector(0), arguments = vector(8) - vector(0);

/// Whether it is one of this library, which takes no floating-point numbers from programs.
bool is_of_runtime(const std::byte* function) {
    static const std::byte own{};
    Dl_info there{}, here{};
    return dladdr(function, &there) != 0 && dladdr(&own, &here) != 0 && there.dli_fbase == here.dli_fbase;
}

/// Follows what registers have, until a thread uses it.
class Search {
public:
    /// `behind`: where the thread goes on when it has made what is in the registers at `made_at`.
    Search(std::byte* behind, const std::byte* made_at) : behind_(behind), made_at_(made_at) {}

    bool finds_use(Registers live) {
        next_.push_back({behind_, live, false});
        while (!next_.empty()) {
            const Way way = next_.back();
            next_.pop_back();
            Registers& known = seen_[way.is_called ? 1 : 0][way.at];
            const Registers is_new = way.live & ~std::exchange(known, known | way.live);
            if (way.at != nullptr && is_new != 0 && uses({way.at, is_new, way.is_called})) return true;
        }
        return false;
    }

private:
    struct Way {
        std::byte* at;
        Registers live;
        bool is_called; ///< a function takes it from the one that has made it
    };

    bool uses(Way way) {
        const auto decoded = decode({way.at, longest_instruction});
        if (!decoded || seen_[0].size() + seen_[1].size() > most) return true;
        const Uses uses = uses_of(*decoded);
        if ((uses.read & way.live) != 0) return true;
        way.live &= ~uses.written;
        const auto category = decoded->instruction.meta.category;
        if (category == ZYDIS_CATEGORY_UNCOND_BR && jump_target_of(*decoded) == nullptr)
            return !way.is_called || !follows(*decoded, way.live);
        if (category == ZYDIS_CATEGORY_RET && returns_it(way)) return true;
        if (is_call(*decoded) && passes_it_on(*decoded, way) && !follows(*decoded, way.live & arguments)) return true;
        if (leaves_the_function(*decoded)) way.live &= kept_by_functions;
        for (std::byte* const each : successors_of(*decoded)) next_.push_back({each, way.live, way.is_called});
        return false;
    }
    bool returns_it(const Way& way) const {
        return !way.is_called && (way.live & returned) != 0 && !may_come(behind_, made_at_);
    }
    bool passes_it_on(const Decoded& call, const Way& way) const {
        if ((way.live & arguments) == 0) return false;
        return way.is_called || !may_come(behind_, made_at_) || may_come(call.end(), made_at_);
    }
    /// Returns false if it is not known where the call, or the jump of the linker's table, leads.
    bool follows(const Decoded& call, Registers live) {
        std::byte* function = target_of(call);
        if (function == nullptr) {
            const auto slot = slot_of(call);
            if (slot == 0) return false;
            function = *reinterpret_cast<std::byte* const*>(slot); // NOLINT(performance-no-int-to-ptr)
            if (is_of_runtime(function)) return true;
        }
        next_.push_back({function, live, true});
        return true;
    }

    std::byte* behind_;
    const std::byte* made_at_;
    std::array<std::unordered_map<std::byte*, Registers>, 2> seen_; ///< what has been followed; in called functions
    std::vector<Way> next_;
};

} // namespace

Registers written_by(std::byte* begin, const std::byte* end) {
    Registers written = 0;
    for (auto decoded = decode({begin, longest_instruction}); decoded && decoded->at < end;
         decoded = decode({decoded->end(), longest_instruction}))
        written |= uses_of(*decoded).written;
    return written;
}

bool uses_any(std::byte* at, Registers live, const std::byte* made_at) { return Search(at, made_at).finds_use(live); }

} // namespace kumiki::openmp
