#include "support/filter.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace kumiki::tests {

namespace {

/// The calling thread gets this answer to one system call.
bool answer(std::uint32_t call, std::uint32_t action) {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof(rules) / sizeof(rules[0]), rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

} // namespace

bool forbid_futex() { return answer(SYS_futex, SECCOMP_RET_KILL_PROCESS); }

bool refuse_userfaultfd() { return answer(SYS_userfaultfd, SECCOMP_RET_ERRNO | EPERM); }

bool refuse_seccomp() { return answer(SYS_seccomp, SECCOMP_RET_ERRNO | EPERM); }

} // namespace kumiki::tests
