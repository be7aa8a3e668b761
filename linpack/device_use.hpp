#pragma once

#include <cstdint>

namespace kumiki::linpack {

/// The device that a rank uses.
struct DeviceUse {
    std::uint32_t address = 0; ///< of the server of this host
    double share = 0;          ///< of the columns of a step that are given to it, 0 .. 1; the same at every rank
};

} // namespace kumiki::linpack
