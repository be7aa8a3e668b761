#pragma once

#include <filesystem>
#include <memory>
#include <sys/types.h>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// A key-value space that another process holds on this rank's behalf: for process managers whose library an MPI
/// library of this process must be the first to use. Starts `program`, which serves it (below). The proxy finalizes
/// with the process manager when the rank does; when a rank ends without that, so does its proxy.
Result<std::unique_ptr<KeyValueSpace>> open_proxy(const std::filesystem::path& program);

/// The same with a proxy that runs already, through a packet socket to it. The socket stays open for as long as the
/// process lives.
Result<std::unique_ptr<KeyValueSpace>> adopt_proxy(int socket);

/// The other side, in the process of that program: answers the rank, the process of that number, through the socket.
/// Returns true when the rank has finalized, and false when it has ended without.
bool serve(const Result<std::shared_ptr<KeyValueSpace>>& space, int socket, pid_t rank);

} // namespace kumiki::fabric
