#include "platform/system_call_filter.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "platform/system_call.hpp"
#include "platform/trapped_calls.hpp"

namespace kumiki::platform {
namespace {

/// A program of the kernel's packet filter, which looks at one 32-bit word at a time and jumps forward only.
class Filter {
public:
    explicit Filter(UpperHalves range) : range_(range) {
        load(offsetof(seccomp_data, arch));
        jump(BPF_JEQ, SystemCall::architecture(), To::next, To::allow);
        load(offsetof(seccomp_data, nr));
        // A call that is not listed passes without a look at its arguments, so the kernel need not run the filter for
        // it.
        for (const TrappedCall& call : trapped_calls) jump(BPF_JEQ, call.number, To{call.addresses}, To::next);
        answer(SECCOMP_RET_ALLOW);
        for (unsigned addresses = 1; addresses < begins_.size(); ++addresses)
            if (std::ranges::any_of(trapped_calls,
                                    [=](const TrappedCall& call) { return call.addresses == addresses; }))
                check(addresses);
        close();
    }

    /// Jumps reach 255 instructions far. A list of calls that is longer needs a filter of another form.
    bool is_too_long() const { return too_long_; }
    sock_fprog program() { return {static_cast<unsigned short>(code_.size()), code_.data()}; }

private:
    /// Where a jump leads: from 1 to 63, to the check of these arguments; close() finds the distances.
    enum class To : std::uint8_t { next = 0, over_one = 100, allow = 101, found = 102 };
    static constexpr std::size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4, high = 4 - low;

    void load(std::size_t offset) {
        code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
    }
    void answer(std::uint32_t action) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }
    void jump(std::uint16_t comparison, std::uint32_t value, To if_true, To if_false) {
        code_.push_back(BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | BPF_K | comparison), value,
                                 static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false)));
    }

    /// The arguments that have a bit in `addresses`.
    void check(unsigned addresses) {
        begins_[addresses] = code_.size();
        for (std::size_t argument = 0; argument < SystemCall::argument_count; ++argument) {
            if ((addresses >> argument & 1) == 0) continue;
            load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t) + high);
            jump(BPF_JGE, range_.first, To::next, To::over_one);
            jump(BPF_JGT, range_.last, To::next, To::found);
        }
        answer(SECCOMP_RET_ALLOW);
    }

    /// The two ends: an argument has been found, or none.
    void close() {
        const std::size_t found = code_.size();
        const std::uint64_t repeated = SystemCall::repeated_calls_return();
        load(offsetof(seccomp_data, instruction_pointer) + low);
        jump(BPF_JEQ, static_cast<std::uint32_t>(repeated), To::over_one, To::next);
        answer(SECCOMP_RET_TRAP | filter_mark);
        load(offsetof(seccomp_data, instruction_pointer) + high);
        jump(BPF_JEQ, static_cast<std::uint32_t>(repeated >> 32), To::allow, To::next);
        answer(SECCOMP_RET_TRAP | filter_mark);
        const std::size_t allow = code_.size();
        answer(SECCOMP_RET_ALLOW);
        const auto distance = [&](std::size_t from, std::uint8_t to) -> std::size_t {
            switch (To{to}) {
            case To::next: return 0;
            case To::over_one: return 1;
            case To::allow: return allow - from;
            case To::found: return found - from;
            }
            return begins_[to] - from;
        };
        for (std::size_t at = 0; at < code_.size(); ++at)
            if (BPF_CLASS(code_[at].code) == BPF_JMP)
                for (std::uint8_t* const to : {&code_[at].jt, &code_[at].jf}) {
                    const std::size_t far = distance(at + 1, *to);
                    too_long_ |= far > UINT8_MAX;
                    *to = static_cast<std::uint8_t>(far);
                }
    }

    UpperHalves range_;
    std::vector<sock_filter> code_;
    std::array<std::size_t, 1 << SystemCall::argument_count> begins_{}; ///< of the checks, by the arguments
    bool too_long_ = false;
};

/// For all threads at once, also those that start meanwhile. Without the second flag old kernels would slow all threads
/// down, by guarding them against speculation.
long install(const sock_fprog& program) {
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                   &program);
}

} // namespace

Result<> install_system_call_filter(UpperHalves range) {
    if (SystemCall::architecture() == 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT, "Kumiki does not know the registers of this processor's system calls");
    Filter filter(range);
    if (filter.is_too_long()) return fail(KUMIKI_ERROR_ENVIRONMENT, "the filter of system calls is too long");
    const sock_fprog program = filter.program();
    long installed = install(program);
    if (installed < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) installed = install(program);
    if (installed == 0) return {};
    if (installed > 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("thread {} of this process has a filter of system calls of its own, so there cannot be "
                                "one for all threads",
                                installed));
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("this process may not filter system calls (seccomp: {}); in a container the security "
                            "profile must allow that, and the kernel must have been built with it",
                            std::strerror(errno)));
}

} // namespace kumiki::platform
