#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "error/result.hpp"
#include "settings/settings.hpp"

namespace kumiki::fabric {

/// What a rank tells about itself before the ranks know which of them share a host.
struct Introduction {
    std::string machine; ///< identifies the boot of the machine; where the system does not tell it, the machine's name
    std::string host;    ///< the same text for all ranks that can share memory with each other
    std::string addresses; ///< of the host in the network (platform::addresses_of)
    int process = 0;
    int threads = 0;                ///< that the user asked for; 0: as many as there are processors for
    std::uint64_t arena_bytes = 0;  ///< that the user asked for; 0: as much as the host has memory
    std::uint64_t memory_bytes = 0; ///< of the host
    std::vector<int> cpus;          ///< that the rank may run on

    static Introduction of_this_process(const Settings& settings);

    /// The introduction as text: machine and host are lines of their own, since names may hold blanks.
    std::string pack() const;
    /// Fails when the text is not of this version of Kumiki.
    static Result<Introduction> unpack(const std::string& text);
};

} // namespace kumiki::fabric
