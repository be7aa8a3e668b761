#pragma once

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "kumiki/kumiki.h"
#include "support/processes.hpp"
#include "support/ranks.hpp"

namespace kumiki::tests {

/// Runs `body` once for every rank of a job behind the C interface, each rank a thread of this process; then each rank
/// leaves by kumiki_leave.
void run_jobs_as_threads(const JobOptions& options, const std::function<void(kumiki_job*)>& body);

/// Programs started as by a launcher: each is a process with the environment and the descriptor of a rank, and joins by
/// itself (kumiki_join, kumiki::Job).
void start_programs(Processes& processes, const JobOptions& options, const std::function<void(int rank)>& body);

/// The same, and expects all of them to succeed.
void run_programs(const JobOptions& options, const std::function<void(int rank)>& body);

/// Expects this code, and an error message that contains each of the words.
void expect_error(kumiki_status status, kumiki_status expected, const std::vector<std::string>& words);

/// A value that the enumeration does not have, as a C program may pass it.
template <class Enumeration>
Enumeration no_such(int value) {
    return std::bit_cast<Enumeration>(value);
}

} // namespace kumiki::tests
