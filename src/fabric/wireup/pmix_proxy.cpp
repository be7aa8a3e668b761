// kumiki-pmix-proxy SOCKET RANK-PROCESS: uses PMIx on behalf of the rank that started it (manager.cpp says when and
// why).
#include <cstdlib>
#include <unistd.h>

#include "fabric/wireup/manager.hpp"
#include "fabric/wireup/proxy.hpp"

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const pid_t child = fork(); // the rank waits for this process, and must have no other child left
    if (child != 0) return child > 0 ? 0 : 3;
    const bool good =
        kumiki::fabric::serve(kumiki::fabric::open_pmix(), std::atoi(arguments[1]), std::atoi(arguments[2]));
    if (!good) _exit(3);
    return 0; // the exit hook finalizes PMIx now
}
