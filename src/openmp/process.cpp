#include "openmp/process.hpp"

#include <cstdlib>
#include <iterator>
#include <sys/uio.h>
#include <unistd.h>

#include "openmp/other_ranks.hpp"
#include "settings/settings.hpp"

namespace kumiki::openmp {
namespace {

constexpr int refused = 3; // the exit code of "the environment is not usable"

/// OMP_WAIT_POLICY says how threads wait, unless Kumiki's own setting does.
wait::Patience patience_of(WaitWish wish) {
    auto settings = read_settings(environ);
    if (!settings) refuse(settings.error().message);
    if (std::getenv("KUMIKI_WAIT") == nullptr) {
        if (wish == WaitWish::active) settings->wait = WaitPolicy::spin;
        if (wish == WaitWish::passive) settings->wait = WaitPolicy::sleep;
    }
    return wait::patience(*settings);
}

} // namespace

Process the_process; // NOLINT: see process.hpp

Process::Process()
    : environment_(read_environment()), patience_(patience_of(environment_.wait)), crowd_(wait::crowded(patience_)) {
    if (environment_.display != Display::no) display(environment_, environment_.display == Display::verbose);
}

void* program_memory(std::size_t bytes, std::size_t alignment) {
    if (the_process.others() != nullptr) return the_process.others()->allocate(bytes, alignment);
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void say(std::string_view sentence) {
    // One call, so that sentences of several threads do not mix; there is nobody to tell if it fails. It needs no
    // memory, because that may be what the sentence is about.
    const auto piece = [](std::string_view text) { return iovec{const_cast<char*>(text.data()), text.size()}; };
    const iovec pieces[] = {piece("kumiki: "), piece(sentence), piece("\n")};
    [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, pieces, std::size(pieces));
}

void refuse(std::string_view sentence) {
    say(sentence);
    std::_Exit(refused);
}

} // namespace kumiki::openmp
