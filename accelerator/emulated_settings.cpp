#include "accelerator/emulated_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "accelerator/device.hpp"
#include "accelerator/words.hpp"

namespace kumiki::accelerator {

namespace {

double number(std::string_view name, std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
        throw DeviceError(fmt::format("emulated device: {}={} is not a number of 0 or more", name, text));
    return value;
}

std::size_t whole(std::string_view name, std::string_view text) {
    const double value = number(name, text);
    if (value != std::floor(value) || value > 1e9)
        throw DeviceError(fmt::format("emulated device: {}={} is not a whole number", name, text));
    return static_cast<std::size_t>(value);
}

RateByShape rate_of(std::string_view text) {
    std::vector<std::pair<double, double>> points;
    for (const std::string_view point : split(text, '/')) {
        const std::vector<std::string_view> words = split(point, ':');
        const double length = words.size() > 1 ? number("rate", words[0]) : 0;
        const double rate = number("rate", words.back());
        if (words.size() > 2 || rate <= 0 || (!points.empty() && length <= points.back().first))
            throw DeviceError(fmt::format("emulated device: rate={} is neither a rate in GFLOP/s above 0, nor a list "
                                          "length:rate/length:rate of ascending lengths",
                                          text));
        points.emplace_back(length, rate);
    }
    return RateByShape(points);
}

} // namespace

double RateByShape::operator()(std::size_t rows, std::size_t columns, std::size_t depth) const {
    const auto length = static_cast<double>(std::min({rows, columns, depth}));
    const auto after = std::ranges::upper_bound(points_, length, {}, [](const auto& point) { return point.first; });
    if (after == points_.begin()) return points_.front().second;
    if (after == points_.end()) return points_.back().second;
    const auto& [low, low_rate] = *std::prev(after);
    const auto& [high, high_rate] = *after;
    return low_rate + (length - low) / (high - low) * (high_rate - low_rate);
}

EmulatedSettings EmulatedSettings::read(std::string_view text) {
    EmulatedSettings settings;
    if (text.empty()) return settings;
    for (const std::string_view setting : split(text, ',')) {
        const std::size_t equals = std::min(setting.find('='), setting.size());
        const std::string_view name = setting.substr(0, equals);
        const std::string_view value = setting.substr(std::min(equals + 1, setting.size()));
        if (name == "rate") settings.rate = rate_of(value);
        else if (name == "bus") settings.bus = number(name, value);
        else if (name == "latency") settings.latency = number(name, value);
        else if (name == "memory") settings.memory = number(name, value);
        else if (name == "once") settings.once = number(name, value);
        else if (name == "processor") settings.processor = static_cast<int>(whole(name, value));
        else if (name == "fails") settings.fails_at = whole(name, value);
        else
            throw DeviceError(fmt::format("emulated device: there is no setting '{}'; the settings are rate, bus, "
                                          "latency, memory, once, processor and fails",
                                          name));
    }
    return settings;
}

} // namespace kumiki::accelerator
