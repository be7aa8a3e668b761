#include "accelerator/start.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <thread>

#include "accelerator/device.hpp"

namespace kumiki::accelerator {

namespace {

constexpr std::chrono::seconds patience{5};

struct FileActions {
    FileActions() { posix_spawn_file_actions_init(&actions); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
    /// To copy a file onto itself is to leave it open in the new program.
    void keep(const File& file) { posix_spawn_file_actions_adddup2(&actions, file.get(), file.get()); }
    posix_spawn_file_actions_t actions{};
};

/// Beside this program, or in bin/ where this is one of the measuring programs in libexec/kumiki/.
std::filesystem::path server_program() {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto among_commands = folder.parent_path().parent_path() / "bin" / "kumiki-device";
    return std::filesystem::exists(among_commands) && folder.filename() == "kumiki" ? among_commands
                                                                                    : folder / "kumiki-device";
}

} // namespace

ServerProcess::ServerProcess(const std::string& device) {
    const std::filesystem::path program = server_program();
    const Listening listening = listen_here();
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw DeviceError(fmt::format("the server of the device needs a pipe: {}", std::strerror(errno)));
    const File watched(ends[0]);
    lifeline_ = File(ends[1]);

    FileActions files;
    files.keep(listening.socket);
    files.keep(watched);
    std::array<std::string, 7> words{program.string(),
                                     "serve",
                                     device,
                                     "--socket",
                                     std::to_string(listening.socket.get()),
                                     "--lifeline",
                                     std::to_string(watched.get())};
    std::array<char*, words.size() + 1> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    if (const int error = posix_spawn(&process_, program.c_str(), &files.actions, nullptr, arguments.data(), environ);
        error != 0)
        throw DeviceError(
            fmt::format("{}, the server of the device, cannot be started: {}; it belongs beside the program "
                        "that uses it",
                        program.string(), std::strerror(error)));
    address_ = listening.address;
}

ServerProcess::~ServerProcess() {
    lifeline_ = File();
    const auto until = std::chrono::steady_clock::now() + patience;
    while (waitpid(process_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

} // namespace kumiki::accelerator
