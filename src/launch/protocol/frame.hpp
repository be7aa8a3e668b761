#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kumiki::launch {

/// The frames that the controller and a host daemon exchange: length and type, four bytes each, then the payload. All
/// numbers are little-endian.
struct Frame {
    std::uint32_t type = 0;
    std::string payload;
};

/// No payload is longer: a sender that announces more does not use this protocol.
inline constexpr std::size_t longest_payload = std::size_t{16} << 20;

/// The first bytes from a host daemon. Anything before them comes from elsewhere: the login scripts of a host may print
/// something.
inline constexpr std::string_view greeting = "\n[kumiki-daemon]\n";
inline constexpr std::size_t longest_preamble = std::size_t{64} << 10;

std::string wire_form(const Frame& frame);

/// Splits a stream of bytes into frames.
class FrameReader {
public:
    /// With `greeted` false the reader skips everything up to the greeting.
    explicit FrameReader(bool greeted) : greeted_(greeted) {}
    void add(std::string_view bytes);
    /// The next frame, if it is complete.
    std::optional<Frame> next();
    bool greeted() const { return greeted_; }
    /// Whether the bytes are not a stream of frames.
    bool broken() const { return broken_; }
    /// The beginning of the bytes that have not been returned yet, in one line, for a message to the user.
    std::string excerpt() const;

private:
    bool skip_preamble();
    std::string bytes_;
    std::size_t begin_ = 0; ///< of the bytes that have not been returned yet
    bool greeted_;
    bool broken_ = false;
};

/// A type with `fields(self)`, which ties all its members in the order in which they are sent.
template <class T>
concept Record = requires(T& record) { T::fields(record); };

/// Writes values one after another.
class PayloadWriter {
public:
    template <std::integral T>
    void put(T value) {
        const auto bits = static_cast<std::uint64_t>(value);
        for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
    }
    void put(const std::string& text) {
        put(text.size());
        bytes_ += text;
    }
    template <class T>
    void put(const std::vector<T>& list) {
        put(list.size());
        for (const T& item : list) put(item);
    }
    template <class A, class B>
    void put(const std::pair<A, B>& pair) {
        put(pair.first);
        put(pair.second);
    }
    template <Record T>
    void put(const T& record) {
        std::apply([this](const auto&... fields) { (put(fields), ...); }, T::fields(record));
    }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

/// Reads the values back; get() returns false when there are too few bytes.
class PayloadReader {
public:
    explicit PayloadReader(std::string_view bytes) : bytes_(bytes) {}

    template <std::integral T>
    bool get(T& value) {
        if (bytes_.size() < 8) return false;
        std::uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
        value = static_cast<T>(bits);
        bytes_.remove_prefix(8);
        return true;
    }
    bool get(std::string& text) {
        std::size_t length = 0;
        if (!get(length) || length > bytes_.size()) return false;
        text = bytes_.substr(0, length);
        bytes_.remove_prefix(length);
        return true;
    }
    template <class T>
    bool get(std::vector<T>& list) {
        std::size_t count = 0;
        if (!get(count) || count > bytes_.size() / 8) return false; // no item is shorter than eight bytes
        list.resize(count);
        for (T& item : list)
            if (!get(item)) return false;
        return true;
    }
    template <class A, class B>
    bool get(std::pair<A, B>& pair) {
        return get(pair.first) && get(pair.second);
    }
    template <Record T>
    bool get(T& record) {
        return std::apply([this](auto&... fields) { return (get(fields) && ...); }, T::fields(record));
    }
    bool at_end() const { return bytes_.empty(); }

private:
    std::string_view bytes_;
};

} // namespace kumiki::launch
