#pragma once

#include <string>
#include <sys/types.h>

#include "launch/hosts.hpp"

namespace kumiki::launch {

/// How a rank ended.
struct RankEnd {
    int rank = 0; ///< in the job
    pid_t process = 0;
    int status = 0;      ///< as waitpid tells it
    bool joined = false; ///< it had joined the job and not left it
};

/// "rank 2 of 4 on host b (process 1234)"
std::string name_of(int rank, pid_t process, const Share& share);

bool is_failure(const RankEnd& end);

/// What kumiki-run returns for this end.
int exit_code_of(const RankEnd& end);

/// The sentence for a failed rank of the job that `share` is part of.
std::string sentence(const RankEnd& end, const Share& share);

/// Puts the name of the host before a sentence, when hosts have names.
std::string on_host(const Share& share, const std::string& sentence);

/// "signal 9 (Killed)", with a remark when memory was dumped.
std::string signal_of(int status);

/// Why `program` cannot be run, from the errno of exec, and what mends it.
std::string cannot_run(const std::string& program, int error);

} // namespace kumiki::launch
