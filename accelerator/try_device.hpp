#pragma once

#include <iosfwd>
#include <string>

namespace kumiki::accelerator {

/// Prints what a device is, and the rate of its products by shape. Returns an exit code: 0, or 1 when a product is
/// wrong. Throws DeviceError when there is no such device.
int try_device(const std::string& description, std::ostream& out);

} // namespace kumiki::accelerator
