#include "platform/process.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace kumiki::platform {
namespace {

namespace fs = std::filesystem;

ProcessStatus::State state_of(char letter) {
    switch (letter) {
    case 'T': return ProcessStatus::State::stopped;
    case 't': return ProcessStatus::State::traced;
    case 'Z':
    case 'X': return ProcessStatus::State::dead;
    default: return ProcessStatus::State::alive;
    }
}

fs::path folder_of(int process) { return fs::path("/proc") / std::to_string(process); }

/// The fields of a file `stat` from the state on; nothing if there is no such file.
std::vector<std::string> fields_of(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    // "1234 (any text) S 1 ...": the text may contain anything, so the fields are counted from the last parenthesis.
    const auto end = line.rfind(')');
    if (end == line.npos) return {};
    std::istringstream rest(line.substr(end + 1));
    return {std::istream_iterator<std::string>(rest), {}};
}

template <class Number>
Number number_in(const std::string& field) {
    Number number = 0;
    std::from_chars(field.data(), field.data() + field.size(), number);
    return number;
}

} // namespace

std::uint64_t process_namespace() {
    struct stat found{};
    return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

std::optional<ProcessStatus> status_of(int process) {
    const auto fields = fields_of(folder_of(process) / "stat");
    if (fields.size() < 2) return {};
    ProcessStatus status{.state = state_of(fields[0].front())};
    status.parent = number_in<int>(fields[1]);
    return status;
}

bool is_ending(int process) {
    constexpr std::size_t flags_place = 6; // proc(5): the ninth field of the line
    constexpr unsigned exiting = 4;        // PF_EXITING of Linux
    bool any = false;
    std::error_code ignored;
    for (const auto& thread : fs::directory_iterator(folder_of(process) / "task", ignored)) {
        const auto fields = fields_of(thread.path() / "stat");
        if (fields.size() <= flags_place) continue; // it has just gone
        if ((number_in<unsigned>(fields[flags_place]) & exiting) == 0) return false;
        any = true;
    }
    return any;
}

} // namespace kumiki::platform
