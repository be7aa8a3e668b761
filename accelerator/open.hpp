#pragma once

#include <memory>
#include <string>

#include "accelerator/device.hpp"

namespace kumiki::accelerator {

/// Opens the device that a text describes: "emulated:rate=20,bus=4", or "opencl:0". Throws DeviceError with a
/// sentence when there is none.
std::unique_ptr<Device> open_device(const std::string& description);

} // namespace kumiki::accelerator
