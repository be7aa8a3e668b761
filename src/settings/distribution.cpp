#include "settings/distribution.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "text/text.hpp"

namespace kumiki {
namespace {

using Dimension = Distribution::Dimension;

constexpr std::uint64_t page = 4096; ///< of parts whose length is not given

bool is_whole(const Dimension& dimension) { return dimension.how == Dimension::How::whole; }

tl::unexpected<Failure> mistake() {
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                "it must be first, rank:NUMBER, block, cyclic, cyclic:BYTES, or a list of dimensions such as "
                "[block:100][*:200]");
}

/// A number from 1 on; 0 if the text is another one.
std::uint64_t count_from(std::string_view text, int base = 10) {
    return text::number<std::uint64_t>(text, base).value_or(0);
}

std::uint64_t bytes_from(std::string_view text) {
    constexpr std::string_view suffixes = "KMG";
    const auto power = text.empty() ? suffixes.npos : suffixes.find(text.back());
    if (power == suffixes.npos) return count_from(text);
    text.remove_suffix(1);
    const std::uint64_t value = count_from(text);
    const auto shift = 10 * (power + 1);
    return value >> (62 - shift) == 0 ? value << shift : 0;
}

/// What is before the separator; the rest stays in `text`.
std::string_view take_word(std::string_view& text, char separator) {
    const auto at = std::min(text.find(separator), text.size());
    const std::string_view word = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return word;
}

/// One dimension, without its brackets.
Result<Dimension> dimension_from(std::string_view text) {
    const std::string_view how = take_word(text, ':'), extent = take_word(text, ':');
    Dimension made{.extent = count_from(extent)};
    if (how == "*") made.how = Dimension::How::whole;
    else if (how == "cyclic") made.how = Dimension::How::cyclic;
    else if (how != "block") return mistake();
    if (made.extent == 0) return mistake();
    if (made.how != Dimension::How::cyclic) return text.empty() ? Result<Dimension>(made) : mistake();
    made.length = text.empty() ? 1 : count_from(text);
    if (made.length == 0) return mistake();
    return made;
}

Result<std::vector<Dimension>> dimensions_from(std::string_view text) {
    std::vector<Dimension> all;
    std::uint64_t elements = 1;
    while (!text.empty()) {
        if (text.front() != '[' || text.find(']') == text.npos) return mistake();
        text.remove_prefix(1);
        auto one = dimension_from(take_word(text, ']'));
        if (!one) return tl::unexpected(one.error());
        if (__builtin_mul_overflow(elements, one->extent, &elements)) return mistake();
        all.push_back(*one);
    }
    if (std::ranges::all_of(all, is_whole))
        return fail(KUMIKI_ERROR_ENVIRONMENT, "no dimension of it is block or cyclic");
    return all;
}

/// How many parts the ranks make of each dimension that is not whole: as equal as can be, the larger numbers first.
std::vector<int> grid_of(int ranks, const std::vector<Dimension>& dimensions) {
    std::vector<int> sides;
    for (auto count = dimensions.size() - static_cast<std::size_t>(std::ranges::count_if(dimensions, is_whole));
         count > 1; --count) {
        int side = 1; // the longest that leaves at most as much for each of the others
        for (int each = 1; each <= ranks; ++each) {
            if (ranks % each != 0) continue;
            side = each;
            double others = 1;
            for (std::size_t i = 1; i < count; ++i) others *= each;
            if (others >= ranks / each) break;
        }
        sides.push_back(side);
        ranks /= side;
    }
    sides.push_back(ranks);
    return sides;
}

std::uint64_t block_length(std::uint64_t extent, std::uint64_t parts) { return (extent + parts - 1) / parts; }

/// The one of `parts` that has element `index` of the dimension.
std::uint64_t part_of(const Dimension& dimension, std::uint64_t extent, std::uint64_t index, std::uint64_t parts) {
    if (dimension.how == Dimension::How::cyclic)
        return index / (dimension.length == 0 ? page : dimension.length) % parts;
    return index / block_length(extent, parts);
}

} // namespace

Result<Distribution> Distribution::from(std::string_view text) {
    Distribution made;
    if (text.starts_with('[')) {
        auto dimensions = dimensions_from(text);
        if (!dimensions) return tl::unexpected(dimensions.error());
        made.kind = Kind::parts;
        made.dimensions = std::move(*dimensions);
        return made;
    }
    const bool has_number = text.find(':') != text.npos;
    const std::string_view word = take_word(text, ':');
    if (word == "rank" && has_number) {
        made.rank = text::number<int>(text).value_or(-1);
        if (made.rank < 0) return mistake();
        made.kind = Kind::rank;
        return made;
    }
    if (word == "cyclic") {
        made.kind = Kind::parts;
        made.dimensions = {{.how = Dimension::How::cyclic, .length = has_number ? bytes_from(text) : page}};
        return made.dimensions.front().length == 0 ? mistake() : Result<Distribution>(made);
    }
    if (has_number) return mistake();
    if (word == "block") {
        made.kind = Kind::parts;
        made.dimensions = {{.how = Dimension::How::block}};
        return made;
    }
    return word == "first" ? Result<Distribution>(made) : mistake();
}

std::uint64_t Distribution::elements() const {
    std::uint64_t all = 1;
    for (const Dimension& each : dimensions) all *= each.extent;
    return all;
}

std::uint64_t Distribution::part_length(std::size_t dimension, int ranks) const {
    const Dimension& wanted = dimensions[dimension];
    if (wanted.how == Dimension::How::whole) return wanted.extent;
    if (wanted.how == Dimension::How::cyclic) return wanted.length;
    const auto whole_before = std::ranges::count_if(
        dimensions.begin(), dimensions.begin() + static_cast<std::ptrdiff_t>(dimension), is_whole);
    const int side = grid_of(ranks, dimensions)[dimension - static_cast<std::size_t>(whole_before)];
    return block_length(wanted.extent, static_cast<std::uint64_t>(side));
}

int Distribution::owner(std::uint64_t offset, std::uint64_t bytes, int ranks) const {
    if (kind == Kind::rank) return rank;
    if (dimensions.front().extent == 0)
        return static_cast<int>(part_of(dimensions.front(), bytes, offset, static_cast<std::uint64_t>(ranks)));
    std::uint64_t rest = offset / (bytes / elements()), below = elements();
    const std::vector<int> grid = grid_of(ranks, dimensions);
    auto side = grid.begin();
    int owner = 0;
    for (const Dimension& each : dimensions) {
        below /= each.extent;
        const std::uint64_t index = rest / below;
        rest %= below;
        if (is_whole(each)) continue;
        owner = owner * *side + static_cast<int>(part_of(each, each.extent, index, static_cast<std::uint64_t>(*side)));
        ++side;
    }
    return owner;
}

std::string variable_homes_text(std::uint64_t address, std::uint64_t bytes, std::string_view what) {
    return fmt::format("{:x}+{:x}={}", address, bytes, what);
}

std::string rows_text(const LoopSchedule& affinity) { return fmt::format("rows:{}:{}", affinity.low, affinity.high); }

namespace {

/// The first and the last row of "LOW:HIGH", or of a number of rows; false if the text is neither.
bool read_rows(std::string_view text, std::int64_t& low, std::int64_t& high) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    const bool counts = text.find(':') == text.npos;
    const auto first = counts ? 0 : text::number<std::int64_t>(take_word(text, ':'));
    const auto last = text::number<std::int64_t>(text);
    if (!first || !last || *first < -most || *first > *last || *last > most) return false;
    low = *first;
    high = counts ? *last - 1 : *last;
    return low <= high;
}

} // namespace

Result<LoopSchedule> LoopSchedule::from(std::string_view text) {
    LoopSchedule made;
    const std::string_view word = take_word(text, ':');
    if (text.empty() && word == "threads") return made;
    if (text.empty() && (word == "measured" || word == "monotonic")) {
        made.kind = word == "measured" ? Kind::measured : Kind::monotonic;
        return made;
    }
    made.kind = Kind::affinity;
    made.name = take_word(text, '[');
    const bool closed = text.ends_with(']');
    if (closed) text.remove_suffix(1);
    if (word == "affinity" && !made.name.empty() && closed && read_rows(text, made.low, made.high)) return made;
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                "it must be threads, measured, monotonic, affinity:NAME[ROWS] or affinity:NAME[LOW:HIGH]");
}

Result<KnownVariables> known_variables_from(std::string_view text) {
    KnownVariables known;
    while (!text.empty()) {
        std::string_view one = take_word(text, ';');
        const std::uint64_t address = count_from(take_word(one, '+'), 16), bytes = count_from(take_word(one, '='), 16);
        if (address == 0 || bytes == 0) return mistake();
        if (one.starts_with("rows:")) {
            LoopRows rows{.address = address, .bytes = bytes};
            if (!read_rows(one.substr(5), rows.low, rows.high)) return mistake();
            known.rows = rows;
            continue;
        }
        auto distribution = Distribution::from(one);
        if (!distribution) return tl::unexpected(distribution.error());
        known.homes.push_back({address, bytes, std::move(*distribution)});
    }
    return known;
}

} // namespace kumiki
