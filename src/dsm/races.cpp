#include "dsm/races.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kumiki::dsm {
namespace {

constexpr std::size_t bits = 64;

} // namespace

void PageWrites::append_to(std::vector<std::uint64_t>& words) const {
    words.insert(words.end(), {array, rank, page, interval, first.code, first.at, mask.size()});
    words.insert(words.end(), seen.begin(), seen.end());
    words.insert(words.end(), mask.begin(), mask.end());
}

PageWrites PageWrites::read(std::span<const std::uint64_t>& words, std::size_t ranks) {
    constexpr std::size_t head = 7;
    const std::size_t length = words[head - 1];
    PageWrites read{static_cast<std::uint32_t>(words[0]),
                    static_cast<std::uint32_t>(words[1]),
                    words[2],
                    words[3],
                    {words[4], words[5]},
                    words.subspan(head, ranks),
                    words.subspan(head + ranks, length)};
    words = words.subspan(head + ranks + length);
    return read;
}

bool Races::find(std::span<const PageWrites> writes, std::uint64_t barriers,
                 const std::function<std::uint64_t(std::uint32_t array)>& address_of) {
    std::vector<const PageWrites*> order;
    for (const PageWrites& each : writes) order.push_back(&each);
    const auto place = [](const PageWrites* each) { return std::tuple(each->array, each->page, each->rank); };
    std::ranges::stable_sort(order, {}, place);
    bool news = false;
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        const auto is_same = [&](const PageWrites* each) {
            return each->array == order[begin]->array && each->page == order[begin]->page;
        };
        while (end < order.size() && is_same(order[end])) ++end;
        for (std::size_t one = begin; one < end; ++one)
            for (std::size_t other = one + 1; other < end; ++other)
                if (order[one]->rank != order[other]->rank && !order[one]->follows(*order[other]) &&
                    !order[other]->follows(*order[one]))
                    news = compare(*order[one], *order[other], barriers, address_of(order[one]->array)) || news;
    }
    return news;
}

namespace {

/// Calls each(begin, end) for the runs of bytes whose bits are set in both masks. Bytes that are less than 8 apart are
/// in one run: where only a part of a number has changed, its other bytes are between.
template <class Each>
void for_each_run(const PageWrites& one, const PageWrites& other, Each each) {
    constexpr std::size_t near = 8;
    std::size_t begin = 0, end = 0;
    for (std::size_t word = 0; word < one.mask.size(); ++word)
        for (std::uint64_t left = one.mask[word] & other.mask[word]; left != 0; left &= left - 1) {
            const std::size_t byte = word * bits + static_cast<std::size_t>(std::countr_zero(left));
            if (end != 0 && byte - end >= near) {
                each(begin, end);
                end = 0;
            }
            if (end == 0) begin = byte;
            end = byte + 1;
        }
    if (end != 0) each(begin, end);
}

/// Whether the first write of its interval changed one of the bytes.
bool is_among(const Writer& first, const Race& bytes) { return first.at >= bytes.begin && first.at < bytes.end; }

} // namespace

/// Of intervals without order. Returns whether they have a race of a new kind.
bool Races::compare(const PageWrites& one, const PageWrites& other, std::uint64_t barriers, std::uint64_t address) {
    const std::uint64_t base = one.page * one.mask.size() * bits;
    bool news = false;
    for_each_run(one, other, [&](std::size_t begin, std::size_t end) {
        Race race{address, {one.rank, other.rank}, {one.first.code, other.first.code}};
        race.faulted = {one.first.at != Writer::nowhere, other.first.at != Writer::nowhere};
        race.begin = base + begin;
        race.end = base + end;
        race.exact = {is_among(one.first, race), is_among(other.first, race)};
        race.barriers = race.last = barriers;
        news = add(race) || news;
    });
    return news;
}

/// Bytes that the same instructions wrote are one race with those beside them, and, when these have become many, with
/// any.
bool Races::add(const Race& race) {
    auto& same = places_[{race.array, race.ranks[0], race.ranks[1], race.code[0], race.code[1]}];
    const auto touches = [&](std::size_t place) {
        return race.begin <= found_[place].end && found_[place].begin <= race.end;
    };
    auto place = std::ranges::find_if(same, touches);
    if (place == same.end() && same.size() < most_pieces && found_.size() < most) {
        same.push_back(found_.size());
        found_.push_back(race);
        return true;
    }
    if (same.empty()) {
        ++others_;
        return false;
    }
    Race& known = found_[place == same.end() ? same.back() : *place];
    known.begin = std::min(known.begin, race.begin);
    known.end = std::max(known.end, race.end);
    known.exact = {known.exact[0] || race.exact[0], known.exact[1] || race.exact[1]};
    if (known.last != race.barriers) ++known.intervals;
    known.last = race.barriers;
    return false;
}

std::string Races::as_json() const {
    std::string text = fmt::format("{{\"others\": {}, \"complete\": {}, \"races\": [", others_, complete_);
    for (const Race& race : found_)
        text += fmt::format("{}\n{{\"array\": {}, \"begin\": {}, \"end\": {}, \"intervals\": {}, "
                            "\"barriers\": {}, \"ranks\": [{}, {}], \"code\": [{}, {}], \"faulted\": [{}, {}], "
                            "\"exact\": [{}, {}]}}",
                            &race == found_.data() ? "" : ",", race.array, race.begin, race.end, race.intervals,
                            race.barriers, race.ranks[0], race.ranks[1], race.code[0], race.code[1], race.faulted[0],
                            race.faulted[1], race.exact[0], race.exact[1]);
    return text + "]}\n";
}

} // namespace kumiki::dsm
