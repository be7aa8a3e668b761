#pragma once

#include <filesystem>
#include <memory>
#include <sys/types.h>

#include "error/result.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// A key-value space that another process holds on this rank's behalf: for a process manager's library that an MPI
/// library of this process must find untouched. Starts `program`, which serves it (below). The rank's farewell to its
/// process manager is the proxy's; a rank that ends without one leaves a proxy that ends without one, too.
Result<std::unique_ptr<KeyValueSpace>> open_proxy(const std::filesystem::path& program);

/// The same with a proxy that runs, through a socket of packets to it. The socket stays open for as long as the process
/// lives.
Result<std::unique_ptr<KeyValueSpace>> adopt_proxy(int socket);

/// The other side, in the process of that program: answers the rank, the process of that number, through the socket.
/// Returns when the rank has said farewell, true, or has ended without it, false.
bool serve(const Result<std::shared_ptr<KeyValueSpace>>& space, int socket, pid_t rank);

} // namespace kumiki::fabric
