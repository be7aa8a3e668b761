#include "fabric/wireup/farewell.hpp"

#include <cstdlib>
#include <memory>
#include <unistd.h>
#include <utility>

namespace kumiki::fabric {
namespace {

struct Farewell {
    pid_t process;
    std::function<void()> say;
};

void end(int status, void* pointer) {
    const std::unique_ptr<Farewell> own(static_cast<Farewell*>(pointer));
    if (status == 0 && getpid() == own->process) own->say();
}

} // namespace

void at_good_end(std::function<void()> farewell) {
    auto own = std::make_unique<Farewell>(Farewell{getpid(), std::move(farewell)});
    if (on_exit(end, own.get()) == 0) static_cast<void>(own.release());
}

} // namespace kumiki::fabric
