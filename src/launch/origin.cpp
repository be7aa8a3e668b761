#include "launch/origin.hpp"

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

} // namespace kumiki::launch
