#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "openmp/ranks/code/instructions.hpp"
#include "openmp/ranks/code/real_updates.hpp"

namespace kumiki::openmp {

/// Whether it copies a register, or its lowest element, into another one of either kind.
bool copies_register(const Decoded& decoded);

/// Follows what instructions do to the registers, of which some have what a load has found, up to the
/// compare-and-exchange of an update (RealUpdate).
class Following {
public:
    /// `bytes`: of the variable.
    Following(unsigned bytes, std::span<const ZydisRegister> loaded);
    /// Returns false if the instruction writes to memory.
    bool add(const Decoded& decoded);
    /// The same from here on: what is in other registers is known when the thread is here.
    Following from_here() const;

    /// The registers that have what the load has found.
    std::vector<ZydisRegister> loaded() const;
    /// Whether an instruction does more with what the load has found than copy it to another general register.
    bool is_used_by(const Decoded& decoded) const;
    /// Whether an instruction calculates with it.
    bool is_operand_of(const Decoded& decoded) const;

    /// The update that ends with this compare-and-exchange, but for where it is made.
    std::optional<RealUpdate> end(const Decoded& exchange) const;
    /// Whether its operand is still what it was in the beginning.
    bool keeps_operand() const;

private:
    /// What a register has, as far as it matters.
    struct Value {
        enum class Is : std::uint8_t {
            address, ///< `thing`, by the registers before the load; at first each register has itself
            number,  ///< what the variable with this address has
            old,     ///< what the load has found
            changed, ///< the result of the operation
            derived, ///< it depends on one of these
            other,
        };
        Is is = Is::other;
        Thing thing{};
        bool is_wide = false; ///< a double, where the variable is a float
        bool operator==(const Value&) const = default;
    };
    struct Operation {
        dsm::WordChange::Kind kind;
        bool commutes;
        std::uint8_t bytes;
    };

    static std::optional<Operation> operation_of(ZydisMnemonic mnemonic);
    static bool depends_on_variable(const Value& value);
    Value read(ZydisRegister name) const;
    void write(ZydisRegister name, Value value) { values_[whole(name)] = value; }
    std::optional<Thing> address_of(const Decoded& decoded, const ZydisDecodedOperand& operand) const;
    std::optional<Value> result_of(const Decoded& decoded);
    std::optional<Value> copied(const ZydisDecodedOperand& to, const ZydisDecodedOperand& from) const;
    std::optional<Value> converted(ZydisMnemonic mnemonic, Value value) const;
    std::optional<Value> calculated(const Operation& operation, const Decoded& decoded,
                                    std::span<const ZydisDecodedOperand> operands);

    std::uint8_t bytes_;
    std::map<ZydisRegister, Value> values_;
    int operations_ = 0;   ///< on what was loaded
    bool escapes_ = false; ///< what depends on it has been written to memory
    RealUpdate update_{};
    std::vector<ZydisRegister> operand_; ///< the registers that have it, or name it
};

} // namespace kumiki::openmp
