#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <unistd.h>
#include <utility>

namespace kumiki::fabric {

/// Does something when this process ends by itself with exit code 0, as process managers want to be told before a rank
/// goes that has not failed. Not when the job is left: an MPI library may use the same connection until the end, and
/// nobody can know whether one will. Child processes, which inherit what is to be done at exit, do not do it.
inline void at_good_end(std::function<void()> farewell) {
    struct Word {
        pid_t process;
        std::function<void()> say;
    };
    auto word = std::make_unique<Word>(Word{getpid(), std::move(farewell)});
    const auto end = [](int status, void* pointer) {
        const std::unique_ptr<Word> own(static_cast<Word*>(pointer));
        if (status == 0 && getpid() == own->process) own->say();
    };
    if (on_exit(end, word.get()) == 0) static_cast<void>(word.release());
}

} // namespace kumiki::fabric
