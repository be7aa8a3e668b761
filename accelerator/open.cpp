#include "accelerator/open.hpp"

#include <fmt/format.h>

#include <charconv>

#include "accelerator/emulated.hpp"
#include "accelerator/opencl.hpp"
#include "accelerator/vendor.hpp"

namespace kumiki::accelerator {

namespace {

std::size_t index_of(const std::string& description, std::string_view text) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (!text.empty() && (error != std::errc{} || end != text.data() + text.size()))
        throw DeviceError(fmt::format("{}: '{}' is not the number of a device, such as 0", description, text));
    return index;
}

} // namespace

std::unique_ptr<Device> open_device(const std::string& description) {
    const std::size_t colon = std::min(description.find(':'), description.size());
    const std::string kind = description.substr(0, colon);
    const std::string_view rest = std::string_view(description).substr(std::min(colon + 1, description.size()));
    if (kind == "emulated") return open_emulated(EmulatedSettings::read(rest));
    if (kind == "opencl") return open_opencl(index_of(description, rest));
    if (kind == "cuda") return open_cuda(index_of(description, rest));
    if (kind == "hip") return open_hip(index_of(description, rest));
    throw DeviceError(
        fmt::format("{}: there is no such kind of device; give opencl, opencl:1, cuda, hip, or emulated:rate=20,bus=4",
                    description));
}

} // namespace kumiki::accelerator
