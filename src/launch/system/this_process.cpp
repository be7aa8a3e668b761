#include "launch/system/this_process.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <sys/prctl.h>

namespace kumiki::launch {

void set_process_name(char** argv, const char* name) {
    prctl(PR_SET_NAME, name);
    // `ps` and `pkill -f` show the memory in which the kernel placed the arguments, one after another.
    if (argv[0] == nullptr) return;
    char* end = argv[0];
    for (char** argument = argv; *argument != nullptr && *argument == end; ++argument)
        end = *argument + std::strlen(*argument) + 1;
    const auto space = static_cast<std::size_t>(end - argv[0]);
    std::memset(argv[0], 0, space);
    std::memcpy(argv[0], name, std::min(std::strlen(name), space - 1));
}

void open_standard_streams() {
    int descriptor = 0;
    while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
    if (descriptor >= 0) close(descriptor);
}

platform::Descriptor take_over_stream(int stream, int flags) {
    platform::Descriptor own(fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (const int null = open("/dev/null", flags | O_CLOEXEC); null >= 0) {
        dup2(null, stream);
        close(null);
    }
    return own;
}

void InheritedState::restore() const {
    setrlimit(RLIMIT_NOFILE, &open_files);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
}

rlimit raise_limit_of_open_files() {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit most{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &most);
    return before;
}

Result<> check_limit_of_open_files(rlim_t needed, const std::string& who) {
    rlimit now{};
    getrlimit(RLIMIT_NOFILE, &now);
    if (now.rlim_cur >= needed) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("the limit of open files is {}, and {} need {}; raise it (ulimit -n {})", now.rlim_cur, who,
                            needed, std::bit_ceil(needed)));
}

} // namespace kumiki::launch
