#pragma once

#include <filesystem>
#include <memory>
#include <sys/types.h>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// A key-value space that another process holds on this rank's behalf: for process managers whose client library an MPI
/// library of this process must be the first to use. Starts `program`, which calls serve() below. The proxy finalizes
/// with the process manager when the rank finalizes; when the rank ends without finalizing, so does its proxy.
Result<std::unique_ptr<KeyValueSpace>> open_proxy(const std::filesystem::path& program);

/// The same with a running proxy, through a packet socket to it. The socket stays open until the process ends.
Result<std::unique_ptr<KeyValueSpace>> adopt_proxy(int socket);

/// The proxy's side: answers, through the socket, the rank whose process is `rank`. Returns true when the rank has
/// finalized, and false when it ended without finalizing.
bool serve(const Result<std::shared_ptr<KeyValueSpace>>& space, int socket, pid_t rank);

} // namespace kumiki::fabric
