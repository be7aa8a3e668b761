#pragma once

#include <cstddef>
#include <memory>

#include "accelerator/device.hpp"

namespace kumiki::accelerator {

/// Device number `index` of NVIDIA's (CUDA with cuBLAS) or AMD's (HIP with rocBLAS); the libraries are opened now.
/// Throws DeviceError with a sentence when something is missing.
std::unique_ptr<Device> open_cuda(std::size_t index);
std::unique_ptr<Device> open_hip(std::size_t index);

} // namespace kumiki::accelerator
