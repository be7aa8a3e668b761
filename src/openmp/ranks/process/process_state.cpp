#include "openmp/ranks/process/process_state.hpp"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/fault_signals.hpp"
#include "platform/next_function.hpp"

namespace kumiki::openmp {
namespace {

mode_t present_mask() {
    static auto* const real = platform::next_function(&::umask, "umask");
    const mode_t mask = real(0);
    real(mask);
    return mask;
}

void note(ProcessState::Change change) {
    if (auto* const ranks = static_cast<Ranks*>(process().others())) ranks->process_state().note(change);
}

/// The kernel gets this text, too, and does not repair its pages.
void touch(const char* text) {
    if (text != nullptr && platform::memory_may_fault())
        platform::KernelAccess().touch({reinterpret_cast<const std::byte*>(text), std::strlen(text) + 1},
                                       platform::Attempt::read);
}

} // namespace

// -- at rank 0 --

const ProcessState::Values* ProcessState::values() {
    if (process().affinity_format() != affinity_format_) {
        affinity_format_ = process().affinity_format();
        note(affinity_format);
    }
    unsigned changed = changed_.exchange(0, std::memory_order_relaxed);
    if (current_ != nullptr && environ != current_->environment) changed |= environment;
    if (current_ != nullptr && changed == 0) return current_;
    ever_changed_ |= changed;
    auto* const next = new (memory(sizeof(Values))) Values{.changed = ever_changed_, .fortran = fortran_};
    next->environment = environ = shared_environment();
    if ((ever_changed_ & folder) != 0) {
        const std::unique_ptr<char, decltype(&std::free)> path(getcwd(nullptr, 0), &std::free);
        next->folder = shared(path ? path.get() : "");
    }
    if ((ever_changed_ & locale) != 0) next->locale = shared(std::setlocale(LC_ALL, nullptr));
    if ((ever_changed_ & mask) != 0) next->mask = present_mask();
    if ((ever_changed_ & affinity_format) != 0) next->affinity_format = shared(affinity_format_.c_str());
    std::fegetenv(&next->floating_point);
    release(std::exchange(current_, next)); // only now, so that the address tells that there is something new
    return current_;
}

/// The C library, and other libraries, keep what they add to the environment in memory of the process.
char** ProcessState::shared_environment() {
    std::size_t count = 0;
    while (environ[count] != nullptr) ++count;
    auto** const all = static_cast<char**>(memory((count + 1) * sizeof(char*)));
    std::transform(environ, environ + count, all,
                   [this](char* entry) { return ranks_.is_shared(entry) ? entry : shared(entry); });
    all[count] = nullptr;
    return all;
}

char* ProcessState::shared(const char* text) {
    const std::size_t bytes = std::strlen(text) + 1;
    return static_cast<char*>(std::memcpy(memory(bytes), text, bytes));
}

void* ProcessState::memory(std::size_t bytes) {
    void* const found = heap_.allocate(bytes);
    if (found == nullptr) ranks_.refuse("all memory that there is for it, and needs some for its environment");
    return found;
}

void ProcessState::release(Values* values) {
    if (values == nullptr) return;
    for (void* const memory :
         {static_cast<void*>(values->environment), static_cast<void*>(values->folder),
          static_cast<void*>(values->locale), static_cast<void*>(values->affinity_format), static_cast<void*>(values)})
        if (memory != nullptr) heap_.release(memory);
}

// -- at the others --

void ProcessState::take_in(const Values* values) {
    if (values == known_) return;
    if (std::exchange(known_, values) == nullptr) { // threads are started in this region
        std::fesetenv(&values->floating_point);
        values->fortran.set();
    }
    if (environ != values->environment) environ = values->environment;
    if ((values->changed & mask) != 0) umask(values->mask);
    if ((values->changed & affinity_format) != 0) process().affinity_format() = values->affinity_format;
    if ((values->changed & locale) != 0 && std::setlocale(LC_ALL, values->locale) == nullptr)
        ranks_.refuse("a locale that this host does not have");
    const std::string path = values->folder != nullptr ? values->folder : ""; // the kernel would not repair its pages
    if ((values->changed & folder) != 0 && chdir(path.c_str()) != 0)
        ranks_.refuse(
            fmt::format("chdir to {}, where this process cannot go ({}),", path, std::strerror(errno)).c_str());
}

} // namespace kumiki::openmp

// -- functions of the C library --

using kumiki::openmp::ProcessState;

KUMIKI_ENTRY int chdir(const char* path) noexcept {
    static auto* const after = kumiki::platform::next_function(&chdir, "chdir");
    kumiki::openmp::touch(path);
    const int result = after(path);
    kumiki::openmp::note(ProcessState::folder);
    return result;
}
KUMIKI_ENTRY int fchdir(int folder) noexcept {
    static auto* const after = kumiki::platform::next_function(&fchdir, "fchdir");
    const int result = after(folder);
    kumiki::openmp::note(ProcessState::folder);
    return result;
}
KUMIKI_ENTRY mode_t umask(mode_t mask) noexcept {
    static auto* const after = kumiki::platform::next_function(&umask, "umask");
    const mode_t before = after(mask);
    kumiki::openmp::note(ProcessState::mask);
    return before;
}
KUMIKI_ENTRY char* setlocale(int category, const char* name) noexcept {
    static auto* const after = kumiki::platform::next_function(&setlocale, "setlocale");
    char* const result = after(category, name);
    if (name != nullptr) kumiki::openmp::note(ProcessState::locale);
    return result;
}

/// The text is in memory that all processes see, because the program may hand on what getenv() returns.
KUMIKI_ENTRY int setenv(const char* name, const char* value, int overwrite) noexcept {
    static auto* const after = kumiki::platform::next_function(&setenv, "setenv");
    auto* const ranks = static_cast<kumiki::openmp::Ranks*>(kumiki::openmp::process().others());
    if (ranks == nullptr || !kumiki::openmp::is_program(__builtin_return_address(0)) || name == nullptr ||
        *name == '\0' || std::strchr(name, '=') != nullptr)
        return after(name, value, overwrite);
    ranks->process_state().note(ProcessState::environment);
    if (overwrite == 0 && std::getenv(name) != nullptr) return 0;
    const std::size_t bytes = std::strlen(name) + std::strlen(value) + 2;
    auto* const entry = static_cast<char*>(ranks->heap().allocate(bytes));
    if (entry == nullptr) {
        errno = ENOMEM;
        return -1;
    }
    *fmt::format_to_n(entry, bytes, "{}={}", name, value).out = '\0';
    return putenv(entry);
}
