#pragma once

#include <cpuid.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ucontext.h>

namespace kumiki::openmp {

/// The vector registers of a thread that a signal, or a call in the place of an instruction (JumpPatches), has
/// interrupted. (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, 13.4 and 13.5: the layout of
/// what XSAVE and XSAVEC store.)
class VectorRegisters {
public:
    static constexpr int number = 32;

    explicit VectorRegisters(const mcontext_t& context) : area_(reinterpret_cast<const std::byte*>(context.fpregs)) {}

    /// The lowest `bytes` of a register, up to 8.
    std::uint64_t lowest(int name, std::size_t bytes) const {
        std::uint64_t value = 0;
        if (name < by_all) std::memcpy(&value, area_ + first + name * 16, bytes);
        else if ((word(header) & upper_bit) != 0) // else they have their first values, zeros, and are not stored
            std::memcpy(&value, area_ + upper() + (name - by_all) * 64, bytes);
        return value;
    }

private:
    static constexpr int by_all = 16; ///< the registers that every processor has
    static constexpr std::size_t first = 160, header = 512;
    static constexpr std::uint64_t upper_bit = 1U << 7, is_compacted = std::uint64_t{1} << 63;

    std::uint64_t word(std::size_t offset) const {
        std::uint64_t value = 0;
        std::memcpy(&value, area_ + offset, sizeof value);
        return value;
    }
    /// Where the registers from the 17th on are. JumpPatches stores all other parts before them, without gaps.
    std::size_t upper() const {
        constexpr std::size_t behind_all_others = 576 + 256 + 64 + 512;
        if ((word(header + 8) & is_compacted) != 0) return behind_all_others;
        static const unsigned offset = [] {
            unsigned a = 0, b = 0, c = 0, d = 0;
            __get_cpuid_count(0xd, 7, &a, &b, &c, &d);
            return b;
        }();
        return offset;
    }

    const std::byte* area_;
};

} // namespace kumiki::openmp
