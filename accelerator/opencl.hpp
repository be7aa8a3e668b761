#pragma once

#include <cstddef>
#include <memory>

#include "accelerator/device.hpp"

namespace kumiki::accelerator {

/// Device number `index` of all platforms of OpenCL, with CLBlast for products; both libraries are opened now. Throws
/// DeviceError with a sentence when something is missing.
std::unique_ptr<Device> open_opencl(std::size_t index);

} // namespace kumiki::accelerator
