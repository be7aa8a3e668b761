#include "openmp/ranks/code/live_registers.hpp"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "openmp/ranks/code/function_calls.hpp"
#include "openmp/ranks/code/instructions.hpp"

namespace kumiki::openmp {
namespace {

constexpr Registers general(int number) { return Registers{1} << number; }
constexpr Registers vector(int number) { return Registers{1} << (16 + number); }

// System V Application Binary Interface, AMD64 Architecture Processor Supplement, section 3.2; the numbers are the
// processor's.
constexpr Registers kept_by_functions =
    general(3) | general(4) | general(5) | general(12) | general(13) | general(14) | general(15);

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

constexpr std::size_t longest_search = 2048; ///< instructions: a large loop of a program has more than a thousand

/// Whether a thread that is at `from` may come to `to`, in this function; if in doubt, it may not.
bool may_come(std::byte* from, const std::byte* to) {
    std::unordered_set<std::byte*> seen;
    std::vector<std::byte*> next{from};
    while (!next.empty() && seen.size() <= longest_search) {
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
constexpr Registers may_be_returned = vector(0), may_be_passed = vector(8) - vector(0);
/// Functions of libraries that take more numbers take any number of them, and store them all when they begin (printf).
constexpr Registers may_be_passed_to_libraries = vector(3) - vector(0);

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
    Search(std::byte* behind, const std::byte* made_at, FunctionCalls* calls, int depth = 0)
        : behind_(behind), made_at_(made_at), calls_(calls), depth_(depth) {}

    bool finds_use(Registers live) {
        next_.push_back({behind_, live, In::own});
        while (!next_.empty()) {
            const Way way = next_.back();
            next_.pop_back();
            Registers& known = seen_[static_cast<std::size_t>(way.in)][way.at];
            const Registers is_new = way.live & ~std::exchange(known, known | way.live);
            if (way.at != nullptr && is_new != 0 && uses({way.at, is_new, way.in})) return true;
        }
        return false;
    }

private:
    /// Whose code it is: of the function that has made what is in the registers, or of one that takes it from there.
    enum class In : std::uint8_t { own, called, library };
    struct Way {
        std::byte* at;
        Registers live;
        In in;
    };

    bool uses(Way way) {
        const auto decoded = decode({way.at, longest_instruction});
        if (!decoded || seen_[0].size() + seen_[1].size() + seen_[2].size() > longest_search) return true;
        const Uses uses = uses_of(*decoded);
        if ((uses.read & way.live) != 0) return true;
        way.live &= ~uses.written;
        const auto category = decoded->instruction.meta.category;
        if (category == ZYDIS_CATEGORY_UNCOND_BR && jump_target_of(*decoded) == nullptr)
            return way.in == In::own || !follows(*decoded, way);
        if (category == ZYDIS_CATEGORY_RET && returns_it(way)) return true;
        if (is_call(*decoded) && passes_it_on(*decoded, way) && !follows(*decoded, way)) return true;
        if (leaves_the_function(*decoded)) way.live &= kept_by_functions;
        for (std::byte* const each : successors_of(*decoded)) next_.push_back({each, way.live, way.in});
        return false;
    }
    bool returns_it(const Way& way) const {
        return way.in == In::own && (way.live & may_be_returned) != 0 && !may_come(behind_, made_at_) &&
               callers_use_it();
    }
    bool callers_use_it() const {
        constexpr int most_depth = 3; // of functions that return what a function has returned
        if (calls_ == nullptr || depth_ == most_depth) return true;
        const auto& known = calls_->of(made_at_);
        return !known || std::ranges::any_of(*known, [&](std::byte* call) {
            const auto decoded = decode({call, longest_instruction});
            return !decoded || Search(decoded->end(), call, calls_, depth_ + 1).finds_use(may_be_returned);
        });
    }
    bool passes_it_on(const Decoded& call, const Way& way) const {
        if ((way.live & may_be_passed) == 0) return false;
        return way.in != In::own || !may_come(behind_, made_at_) || may_come(call.end(), made_at_);
    }
    /// Returns false if it is not known where a call, or a jump of the linker's table or of a switch, leads, and that
    /// matters.
    bool follows(const Decoded& leaving, const Way& way) {
        const Registers live = way.live & may_be_passed;
        if (std::byte* const function = target_of(leaving)) {
            next_.push_back({function, live, way.in == In::library ? In::library : In::called});
            return true;
        }
        const auto slot = slot_of(leaving);
        if (slot == 0) return way.in == In::library && (live & may_be_passed_to_libraries) == 0;
        std::byte* const function = *reinterpret_cast<std::byte* const*>(slot); // NOLINT(performance-no-int-to-ptr)
        if (!is_of_runtime(function)) next_.push_back({function, live, In::library});
        return true;
    }

    std::byte* behind_;
    const std::byte* made_at_;
    FunctionCalls* calls_; ///< null: not known
    int depth_;
    std::array<std::unordered_map<std::byte*, Registers>, 3> seen_; ///< by In: what has been followed
    std::vector<Way> next_;
};

} // namespace

Registers bit_of(ZydisRegister name) {
    const auto number = ZydisRegisterGetId(name);
    switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_GPR64: return general(number);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM: return vector(number);
    default: return 0;
    }
}

bool uses_any(std::byte* at, Registers live, const std::byte* made_at, FunctionCalls* calls) {
    return Search(at, made_at, calls).finds_use(live);
}

} // namespace kumiki::openmp
