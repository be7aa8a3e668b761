#include "platform/process.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace kumiki::platform {
namespace {

ProcessStatus::State state_of(char letter) {
    switch (letter) {
    case 'T': return ProcessStatus::State::stopped;
    case 't': return ProcessStatus::State::traced;
    case 'Z':
    case 'X': return ProcessStatus::State::dead;
    default: return ProcessStatus::State::alive;
    }
}

} // namespace

std::uint64_t process_namespace() {
    struct stat found{};
    return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

std::optional<ProcessStatus> status_of(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    // "1234 (any text) S 1 ...": the text may contain anything, so the fields are counted from the last parenthesis.
    const auto end = line.rfind(')');
    if (end == line.npos || end + 4 >= line.size()) return {};
    ProcessStatus status{.state = state_of(line[end + 2])};
    std::from_chars(line.data() + end + 4, line.data() + line.size(), status.parent);
    return status;
}

} // namespace kumiki::platform
