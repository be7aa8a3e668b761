#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <sys/types.h>

namespace kumiki::platform {

/// Writes all bytes to a file or pipe, in as many pieces as the system takes; if the descriptor does not block, waits
/// until there is room. Returns false, with errno, if a write fails.
bool write_all(int descriptor, std::string_view bytes);

/// The same from this offset of a file on.
bool write_all_at(int descriptor, std::string_view bytes, off64_t offset);

/// The same for a socket. If its reader is gone, returns false with EPIPE and raises no signal.
bool send_all(int socket, std::span<const std::byte> bytes);

inline bool send_all(int socket, std::string_view text) { return send_all(socket, std::as_bytes(std::span(text))); }

} // namespace kumiki::platform
