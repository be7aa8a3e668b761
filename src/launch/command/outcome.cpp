#include "launch/command/outcome.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kumiki::launch {

bool may_be_caused_by(const Verdict& first, const Verdict& second) {
    constexpr int aborted = exit_code::signal_base + SIGABRT;
    return first.code == aborted && !first.sentence.empty() && second.code > exit_code::signal_base &&
           second.code != aborted && !second.sentence.empty();
}

std::string line_of(std::string_view sentence) { return fmt::format("kumiki-run: {}\n", sentence); }

void say(std::string_view sentence) {
    const auto line = line_of(sentence);
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

namespace {

namespace fs = std::filesystem;

bool is_path(const std::string& program) { return program.find('/') != program.npos; }

/// The sentence for a file that exists although the kernel reports "no such file": a file that it needs is missing.
std::string missing_part(const std::string& program) {
    return fmt::format("cannot run {}: it is there, but the interpreter that its first line names, or the loader that "
                       "it needs, is not",
                       program);
}

} // namespace

bool is_failure(const RankEnd& end) { return end.status != 0 || end.joined; }

int exit_code_of(const RankEnd& end) {
    if (WIFSIGNALED(end.status)) return exit_code::signal_base + WTERMSIG(end.status);
    return WEXITSTATUS(end.status) != 0 ? WEXITSTATUS(end.status) : end.joined ? exit_code::failed : exit_code::ok;
}

std::string signal_of(int status) {
    return fmt::format("signal {} ({}{})", WTERMSIG(status), strsignal(WTERMSIG(status)),
                       WCOREDUMP(status) ? ", core dumped" : "");
}

std::string on_host(const Share& share, const std::string& sentence) {
    return share.host.empty() ? sentence : fmt::format("host {}: {}", share.host, sentence);
}

std::string name_of(int rank, pid_t process, const Share& share) {
    return fmt::format("rank {} of {}{} (process {})", rank, share.size,
                       share.host.empty() ? "" : " on host " + share.host, process);
}

std::string sentence(const RankEnd& end, const Share& share) {
    if (!is_failure(end)) return {};
    std::string how;
    if (WIFSIGNALED(end.status)) how = "was killed by " + signal_of(end.status);
    else if (WEXITSTATUS(end.status) != 0) how = fmt::format("exited with code {}", WEXITSTATUS(end.status));
    else how = "ended without leaving the job (Job's destructor did not run)";
    return fmt::format("{} {}{}", name_of(end.rank, end.process, share), how,
                       share.size > 1 ? "; the other ranks were ended" : "");
}

std::string cannot_run(const std::string& program, int error) {
    std::error_code ignored;
    const bool exists = fs::exists(program, ignored);
    if (error == ENOENT) {
        if (is_path(program))
            return exists ? missing_part(program) : fmt::format("cannot run {}: there is no such file", program);
        if (exists)
            return fmt::format("cannot run {0}: it is not on PATH; for the one in this folder write ./{0}", program);
        return fmt::format("cannot run {}: there is no such program on PATH", program);
    }
    if (error == EACCES && is_path(program) && exists) {
        if (fs::is_directory(program, ignored)) return fmt::format("cannot run {}: it is a folder", program);
        return fmt::format("cannot run {0}: it is not executable (chmod +x {0})", program);
    }
    return fmt::format("cannot run {}: {}", program, std::strerror(error));
}

} // namespace kumiki::launch
