#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "error/result.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// The description of a rank that it sends before the ranks know which of them share a host.
struct Introduction {
    std::string machine; ///< identifies the boot of the machine, or is the machine's name where the system provides no
                         ///< such identifier
    std::string host;    ///< the same text for all ranks that can share memory with each other
    std::string addresses; ///< of the host in the network (platform::addresses_of)
    int process = 0;
    int threads = 0;                ///< set by the user; 0: the launcher's processors, divided
    std::size_t thread_counts = 1;  ///< numbers in its KUMIKI_THREADS: 1, or one for each rank of the job
    std::uint64_t arena_bytes = 0;  ///< set by the user; 0: the size of the host's memory
    std::uint64_t memory_bytes = 0; ///< of the host
    std::vector<int> cpus;          ///< processors that the rank may run on

    /// `rank` is the number that the launcher has given this process.
    static Introduction of_this_process(const Settings& settings, int rank);

    /// Returns the introduction as text. Machine and host have their own lines, because names may contain blanks.
    std::string pack() const;
    /// Fails when the text does not come from this version of Kumiki.
    static Result<Introduction> unpack(const std::string& text);
};

} // namespace kumiki::fabric
