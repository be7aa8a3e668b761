#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <tuple>

#include "launch/command/hosts.hpp"

namespace kumiki::launch {

/// The launcher's own exit codes (docs/run.md); it also returns the code of the rank that failed, and 128 + a signal's
/// number.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failed = 1;      ///< a rank ended without leaving the job
inline constexpr int usage = 2;       ///< the command line or a setting is wrong
inline constexpr int environment = 3; ///< the program or the machine is not usable
inline constexpr int signal_base = 128;
} // namespace exit_code

/// The exit code for a failure before the start, depending on whether the user or the machine is the cause.
inline int code_of(const Failure& failure) {
    return failure.status == KUMIKI_ERROR_ARGUMENT ? exit_code::usage : exit_code::environment;
}

/// Why a job ends early.
struct Verdict {
    int code = 0;         ///< the launcher's exit code; 0: a rank has ended the job on purpose
    std::string sentence; ///< for the user; empty if there is nothing to explain

    static auto fields(auto& self) { return std::tie(self.code, self.sentence); }
};

/// Whether the first reason may be a consequence of the second, which has become known later: UCX 1.13 aborts a rank if
/// a peer dies while the two connect, and the abort may be noticed before that death.
bool may_be_caused_by(const Verdict& first, const Verdict& second);

/// "kumiki-run: ", the sentence, and the end of the line.
std::string line_of(std::string_view sentence);

/// Writes that line to stderr, in one piece.
void say(std::string_view sentence);

/// How a rank ended.
struct RankEnd {
    int rank = 0; ///< in the job
    pid_t process = 0;
    int status = 0;      ///< as waitpid reports it
    bool joined = false; ///< it had joined the job and had not left it
    bool over = false;   ///< with its end the job is to be over
};

/// "rank 2 of 4 on host b (process 1234)"
std::string name_of(int rank, pid_t process, const Share& share);

bool is_failure(const RankEnd& end);

/// The exit code of kumiki-run for this end.
int exit_code_of(const RankEnd& end);

/// The sentence about the rank of the job to which `share` belongs whose end ends all others; empty: it has not failed.
std::string sentence(const RankEnd& end, const Share& share);

/// Puts the name of the host before a sentence, if hosts have names.
std::string on_host(const Share& share, const std::string& sentence);

/// "signal 9 (Killed)", with a remark if a core dump was written.
std::string signal_of(int status);

/// Why `program` cannot be run, derived from the errno of exec, and the remedy.
std::string cannot_run(const std::string& program, int error);

} // namespace kumiki::launch
