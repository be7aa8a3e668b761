#include "launch/protocol/frame.hpp"

#include <algorithm>
#include <cctype>

namespace kumiki::launch {
namespace {

constexpr std::size_t header_bytes = 8;

void append(std::string& bytes, std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift);
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return number;
}

} // namespace

std::string wire_form(const Frame& frame) {
    std::string bytes;
    bytes.reserve(header_bytes + frame.payload.size());
    append(bytes, static_cast<std::uint32_t>(frame.payload.size()));
    append(bytes, frame.type);
    return bytes += frame.payload;
}

void FrameReader::add(std::string_view bytes) {
    bytes_.erase(0, std::exchange(begin_, 0));
    bytes_ += bytes;
}

bool FrameReader::skip_preamble() {
    const auto found = bytes_.find(greeting, begin_);
    greeted_ = found != bytes_.npos;
    if (greeted_) begin_ = found + greeting.size();
    else broken_ = bytes_.size() > longest_preamble;
    return greeted_;
}

std::string FrameReader::excerpt() const {
    constexpr std::size_t most = 60;
    auto text = std::string_view(bytes_).substr(begin_);
    text = text.substr(0, std::min(text.find('\n'), most));
    std::string line;
    for (const char letter : text) line += std::isprint(static_cast<unsigned char>(letter)) != 0 ? letter : '.';
    return line;
}

std::optional<Frame> FrameReader::next() {
    if (broken_ || (!greeted_ && !skip_preamble())) return {};
    const std::string_view left = std::string_view(bytes_).substr(begin_);
    if (left.size() < header_bytes) return {};
    const std::size_t length = number_at(left, 0);
    broken_ = length > longest_payload;
    if (broken_ || left.size() < header_bytes + length) return {};
    begin_ += header_bytes + length;
    return Frame{number_at(left, 4), std::string(left.substr(header_bytes, length))};
}

} // namespace kumiki::launch
