#include "launch/title.hpp"

#include <algorithm>
#include <cstring>
#include <sys/prctl.h>

namespace kumiki::launch {

void set_title(char** argv, const char* name) {
    prctl(PR_SET_NAME, name);
    // What `ps` and `pkill -f` show is the memory in which the kernel laid the arguments, one after another.
    if (argv[0] == nullptr) return;
    char* end = argv[0];
    for (char** argument = argv; *argument != nullptr && *argument == end; ++argument)
        end = *argument + std::strlen(*argument) + 1;
    const auto space = static_cast<std::size_t>(end - argv[0]);
    std::memset(argv[0], 0, space);
    std::memcpy(argv[0], name, std::min(std::strlen(name), space - 1));
}

} // namespace kumiki::launch
