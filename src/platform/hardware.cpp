#include "platform/hardware.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace kumiki::platform {
namespace {

std::string line_of(const std::filesystem::path& file) {
    std::ifstream text(file);
    std::string line;
    std::getline(text, line);
    return line;
}

std::string model(const std::filesystem::path& root) {
    std::ifstream information(root / "proc/cpuinfo");
    for (std::string line; std::getline(information, line);)
        if (line.starts_with("model name")) return line.substr(std::min(line.find(':'), line.size() - 1) + 1);
    return {};
}

/// The text in lower case, with hyphens instead of everything that is neither a letter nor a digit.
std::string as_word(const std::string& text) {
    std::string word;
    for (const unsigned char each : text)
        if (std::isalnum(each) != 0) word += static_cast<char>(std::tolower(each));
        else if (!word.empty() && word.back() != '-') word += '-';
    while (word.ends_with('-')) word.pop_back();
    return word;
}

} // namespace

std::string hardware_key(const std::filesystem::path& root) {
    std::string key = as_word(model(root));
    const auto add = [&key](const std::string& part) {
        if (!part.empty()) key += (key.empty() ? "" : ",") + part;
    };
    const auto processors = root / "sys/devices/system/cpu";
    const std::string present = line_of(processors / "present"); // "0-63"
    if (!present.empty()) add(std::to_string(std::atoi(present.c_str() + present.find_last_of("-,") + 1) + 1));
    for (int cache = 0;; ++cache) {
        const std::string size = line_of(processors / "cpu0/cache" / ("index" + std::to_string(cache)) / "size");
        if (size.empty()) break;
        add(as_word(size));
    }
    return key.empty() ? "unknown" : key;
}

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

} // namespace kumiki::platform
