#include "fabric/wireup/farewell.hpp"

#include <cstdlib>
#include <mutex>
#include <ranges>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kumiki::fabric {
namespace {

struct Farewell {
    pid_t process;
    std::function<void(int code)> say;
};

/// Of the whole process, as its exit is.
struct Farewells {
    std::mutex mutex;
    std::vector<Farewell> all;
};

void end(int status, void* pointer) {
    for (const Farewell& farewell : static_cast<Farewells*>(pointer)->all | std::views::reverse)
        if (getpid() == farewell.process) farewell.say(status);
}

/// Never destroyed: it is needed after all that is.
Farewells& farewells() {
    static Farewells* const made = [] {
        auto* farewells = new Farewells;
        static_cast<void>(on_exit(end, farewells));
        return farewells;
    }();
    return *made;
}

/// What is registered first is done last, so we register before main. An MPI library may use the connection at exit
/// (MPICH 5 says its own farewell then, and does not survive that ours has closed it).
[[maybe_unused]] const Farewells& registered_before_main = farewells();

} // namespace

void at_end(std::function<void(int code)> farewell) {
    const std::lock_guard lock(farewells().mutex);
    farewells().all.push_back({getpid(), std::move(farewell)});
}

} // namespace kumiki::fabric
