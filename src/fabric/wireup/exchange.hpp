#pragma once

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// Rounds in which each rank tells all others some bytes, over a key-value space: as hexadecimal digits, since process
/// managers take text, in pieces that are as long as they take. The first piece begins with the number of pieces.
class Exchange {
public:
    explicit Exchange(std::shared_ptr<KeyValueSpace> space) : space_(std::move(space)) {}

    int rank() const { return space_->rank(); }
    int size() const { return space_->size(); }
    /// Whether this rank has exchanged anything before: the process manager remembers.
    bool is_spent() const { return space_->has_written(key(1, space_->rank(), 0)); }

    /// Begins a round: tells `own` and waits until all have told theirs. Collective.
    Result<> tell(std::string_view own) {
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
    /// What `rank` told in this round.
    Result<std::string> told_by(int rank) const {
        auto value = space_->get(rank, key(round_, rank, 0));
        if (!value) return value;
        std::size_t pieces = 0;
        if (value->size() < count_digits ||
            std::from_chars(value->data(), value->data() + count_digits, pieces, 16).ec != std::errc{})
            return tl::unexpected(damaged(rank));
        std::string digits = value->substr(count_digits);
        for (std::size_t piece = 1; piece < pieces; ++piece) {
            auto more = space_->get(rank, key(round_, rank, piece));
            if (!more) return more;
            digits += *more;
        }
        return bytes(digits, rank);
    }
    /// One round: what all ranks told, in their order. Collective.
    Result<std::vector<std::string>> all(std::string_view own) {
        if (auto told = tell(own); !told) return tl::unexpected(told.error());
        std::vector<std::string> values;
        for (int rank = 0; rank < size(); ++rank) {
            auto value = told_by(rank);
            if (!value) return tl::unexpected(value.error());
            values.push_back(std::move(*value));
        }
        return values;
    }

private:
    static constexpr std::size_t count_digits = 4;

    static std::string key(int round, int rank, std::size_t piece) {
        return fmt::format("kumiki-{}-{}-{}", round, rank, piece);
    }
    static std::string hexadecimal(std::string_view bytes) {
        std::string digits;
        for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
        return digits;
    }
    static Result<std::string> bytes(std::string_view digits, int rank) {
        std::string bytes;
        for (; digits.size() >= 2; digits.remove_prefix(2)) {
            unsigned char byte = 0;
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
            if (error != std::errc{} || end != digits.data() + 2) return tl::unexpected(damaged(rank));
            bytes += static_cast<char>(byte);
        }
        if (!digits.empty()) return tl::unexpected(damaged(rank));
        return bytes;
    }
    static Failure damaged(int rank) {
        return {KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("what rank {} told through the process manager is damaged; another program may use the "
                            "same keys",
                            rank)};
    }

    std::shared_ptr<KeyValueSpace> space_;
    int round_ = 0;
};

} // namespace kumiki::fabric
