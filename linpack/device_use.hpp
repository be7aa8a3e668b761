#pragma once

#include <cstdint>

namespace kumiki::accelerator {
class Device;
}

namespace kumiki::linpack {

/// The device that a rank uses.
struct DeviceUse {
    std::uint32_t address = 0; ///< of the server of this host
    double share = 0;          ///< of the columns of a step that are given to it, 0 .. 1; the same at every rank
    bool here = true;          ///< whether this rank sends products to it
    /// Whether a rank sends all or none of its products: then the columns of the next panel come first in a step, also
    /// before those for the device, because ranks that do not use it would come to them last.
    bool by_process = false;
    /// The resident form, at every rank or none: this rank's own device, on which its part of the matrix lives. Then
    /// there is no server, and no share.
    accelerator::Device* own = nullptr;
};

} // namespace kumiki::linpack
