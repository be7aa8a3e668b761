#pragma once

#include <memory>

#include "accelerator/device.hpp"
#include "accelerator/emulated_settings.hpp"

namespace kumiki::accelerator {

/// A device that is not there: its products are computed by CBLAS, one at a time, and take as long as a set rate says;
/// copies take as long as a set bus needs, one at a time in each direction. What the processors cannot do in the set
/// time takes longer, and remark() tells.
std::unique_ptr<Device> open_emulated(const EmulatedSettings& settings);

} // namespace kumiki::accelerator
