#include "launch/origin.hpp"

#include <bit>
#include <fmt/format.h>

namespace kumiki::launch {

void Origin::restore() const {
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
