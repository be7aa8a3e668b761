#include "launch/system/descendants.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <dirent.h>
#include <memory>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>

#include "platform/process.hpp"
#include "text/text.hpp"

namespace kumiki::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 10s;
constexpr auto pause_between_rounds = 5ms;

/// The children of every process. They are found in the table of all processes, because not every kernel has lists of
/// children (/proc/PID/task/TID/children), and these lists are no more reliable.
std::unordered_multimap<pid_t, pid_t> children_by_parent() {
    std::unordered_multimap<pid_t, pid_t> children;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
    if (folder == nullptr) return children;
    while (const dirent* entry = readdir(folder.get())) {
        const auto process = text::number<pid_t>(entry->d_name);
        if (!process) continue;
        if (const auto status = platform::status_of(*process)) children.emplace(status->parent, *process);
    }
    return children;
}

/// Reaps the children that have ended; returns false when no child is left.
bool reap() {
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {}
    return reaped == 0;
}

} // namespace

std::vector<pid_t> descendants() {
    const auto children = children_by_parent();
    std::vector<pid_t> found = {getpid()};
    for (std::size_t next = 0; next < found.size(); ++next) {
        const auto [begin, end] = children.equal_range(found[next]);
        for (auto child = begin; child != end; ++child) found.push_back(child->second);
    }
    found.erase(found.begin());
    return found;
}

void send(std::span<const pid_t> processes, int signal) {
    for (const pid_t process : processes) kill(process, signal);
}

std::vector<pid_t> end_descendants() {
    // A process may fork while the table is being read, and orphans become children of this process; therefore this is
    // repeated until waitpid reports no child.
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (reap()) {
        const auto left = descendants();
        send(left, SIGKILL);
        if (std::chrono::steady_clock::now() > give_up) return left;
        std::this_thread::sleep_for(pause_between_rounds);
    }
    return {};
}

} // namespace kumiki::launch
