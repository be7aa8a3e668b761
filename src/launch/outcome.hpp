#pragma once

#include <string>
#include <sys/types.h>

namespace kumiki::launch {

/// How a rank ended.
struct RankEnd {
    int rank = 0;
    pid_t process = 0;
    int status = 0;      ///< as waitpid tells it
    bool joined = false; ///< it had joined the job and not left it
};

bool is_failure(const RankEnd& end);

/// What kumiki-run returns for this end.
int exit_code_of(const RankEnd& end);

/// The sentence for a failed rank of `ranks`.
std::string sentence(const RankEnd& end, int ranks);

/// "signal 9 (Killed)", with a remark when memory was dumped.
std::string signal_of(int status);

/// Why `program` cannot be run, from the errno of exec, and what mends it.
std::string cannot_run(const std::string& program, int error);

} // namespace kumiki::launch
