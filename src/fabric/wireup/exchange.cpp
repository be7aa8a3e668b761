#include "fabric/wireup/exchange.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "text/text.hpp"

namespace kumiki::fabric {
namespace {

constexpr std::size_t count_digits = 4;

std::string key(int round, int rank, std::size_t piece) { return fmt::format("kumiki-{}-{}-{}", round, rank, piece); }

std::string hexadecimal(std::string_view bytes) {
    std::string digits;
    for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return digits;
}

std::optional<std::string> bytes(std::string_view digits) {
    std::string bytes;
    for (; !digits.empty(); digits.remove_prefix(2)) {
        const auto byte = digits.size() < 2 ? std::nullopt : text::number<unsigned char>(digits.substr(0, 2), 16);
        if (!byte) return {};
        bytes += static_cast<char>(*byte);
    }
    return bytes;
}

tl::unexpected<Failure> damaged(int rank) {
    return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("what rank {} told through the process manager is damaged; "
                                                      "another program may use the same keys",
                                                      rank));
}

} // namespace

bool Exchange::is_spent() const { return space_->has_written(key(1, rank(), 0)); }

Result<> Exchange::tell(std::string_view own) {
    ++round_;
    const std::string digits = hexadecimal(own);
    const std::size_t room = space_->longest_value() - count_digits;
    const std::size_t pieces = std::max<std::size_t>(1, (digits.size() + room - 1) / room);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        auto value = piece == 0 ? fmt::format("{:0{}x}", pieces, count_digits) : std::string();
        value += digits.substr(piece * room, room);
        if (auto written = space_->put(key(round_, rank(), piece), value); !written) return written;
    }
    return space_->fence();
}

Result<std::string> Exchange::told_by(int rank) const {
    auto first = space_->get(rank, key(round_, rank, 0));
    if (!first) return first;
    const auto pieces = text::number<std::size_t>(std::string_view(*first).substr(0, count_digits), 16);
    if (first->size() < count_digits || !pieces || *pieces == 0) return damaged(rank);
    std::string digits = first->substr(count_digits);
    for (std::size_t piece = 1; piece < *pieces; ++piece) {
        auto more = space_->get(rank, key(round_, rank, piece));
        if (!more) return more;
        digits += *more;
    }
    auto told = bytes(digits);
    if (!told) return damaged(rank);
    return std::move(*told);
}

Result<std::vector<std::string>> Exchange::all(std::string_view own) {
    if (auto told = tell(own); !told) return tl::unexpected(told.error());
    std::vector<std::string> values;
    for (int rank = 0; rank < size(); ++rank) {
        auto value = told_by(rank);
        if (!value) return tl::unexpected(value.error());
        values.push_back(std::move(*value));
    }
    return values;
}

} // namespace kumiki::fabric
