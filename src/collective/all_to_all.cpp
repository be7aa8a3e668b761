#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <vector>

#include "collective/collectives.hpp"

namespace kumiki::collective {
namespace {

/// The part of a board that one pair of ranks gets in a round.
std::size_t slice_bytes(int ranks) { return Board::capacity / static_cast<std::size_t>(ranks); }

} // namespace

Result<> Collectives::all_to_all(const void* input, const Pieces& sent, void* output, const Pieces& received) {
    const CallGuard guard(*this);
    if (auto admitted = guard.admitted(); !admitted) return admitted;
    const int locals = group_.host_size();
    const auto rank_of = [this](int local) { return group_.number_on_host(local); };

    if ((input == nullptr && moves_something(sent)) || (output == nullptr && moves_something(received)))
        return refuse_inside(fail(KUMIKI_ERROR_ARGUMENT, "all_to_all: the address of the input or output is null"));

    // Every rank tells every other one of its host where the piece for that rank begins and how long it is.
    std::vector<PieceNote> notes;
    std::size_t end = 0;
    for (int local = 0; local < locals; ++local) {
        const int rank = rank_of(local);
        notes.push_back({sent.offset(rank), sent.bytes(rank)});
        if (sent.bytes(rank) > 0) end = std::max(end, sent.offset(rank) + sent.bytes(rank));
    }
    const bool direct = end > 0 && fabric_.memory().in_region(input, end);
    const CollectiveCall call{static_cast<std::uint32_t>(Kind::all_to_all), 0, 0};
    if (auto same =
            announce(call, std::as_bytes(std::span(notes)), direct ? fabric_.memory().offset(input) : Board::nowhere);
        !same)
        return same;
    const auto rounds = compare_pieces(received, direct);
    if (!rounds) return tl::unexpected(rounds.error());

    // compare_pieces() synchronized all ranks, and for this it used the other board: the contents of this one are still
    // there.
    turn_ ^= 1;
    const auto* from = static_cast<const std::byte*>(input);
    auto* into = static_cast<std::byte*>(output);
    std::vector<char> in_region(static_cast<std::size_t>(locals));
    // Each rank begins with itself, so that they do not all read from the same rank.
    for (int step = 0; step < locals; ++step) {
        const int local = (group_.host_rank() + step) % locals;
        const int source = rank_of(local);
        const auto* note = reinterpret_cast<const PieceNote*>(published(local)) + group_.host_rank();
        const std::uint64_t offset = notice(local).offset;
        in_region[static_cast<std::size_t>(local)] = offset != Board::nowhere;
        if (note->bytes == 0) continue; // an empty piece may have no place
        if (source == group_.rank())
            std::memcpy(into + received.offset(source), from + sent.offset(source), sent.bytes(source));
        else if (offset != Board::nowhere)
            fabric_.memory().copy(into + received.offset(source), group_.arena(local) + offset + note->offset,
                                  note->bytes);
    }
    turn_ ^= 1;
    barrier_.meet_host(); // now the notes may be overwritten, and so may input that was read in place
    pull_staged(from, sent, into, received, *rounds, in_region);
    if (one_host()) return {};
    return agree_that(all_to_all_over_hosts(from, sent, into, received), sizes_differ_elsewhere(Kind::all_to_all));
}

/// Compares the lengths that the other ranks send with those expected here. Returns the number of rounds over the
/// boards that are needed, which is the same at all ranks.
Result<std::size_t> Collectives::compare_pieces(const Pieces& received, bool direct) {
    Result<> mine;
    std::uint64_t longest = 0;
    for (int local = 0; local < group_.host_size(); ++local) {
        const int source = group_.number_on_host(local);
        const auto& note = reinterpret_cast<const PieceNote*>(published(local))[group_.host_rank()];
        if (note.bytes != received.bytes(source) && mine)
            mine = fail(KUMIKI_ERROR_ARGUMENT,
                        fmt::format("all_to_all: rank {} sends {} bytes to rank {}, which expects {}", source,
                                    note.bytes, group_.rank(), received.bytes(source)));
    }
    if (!direct)
        for (int target = 0; target < group_.host_size(); ++target)
            if (target != group_.host_rank())
                longest =
                    std::max(longest, reinterpret_cast<const PieceNote*>(published(group_.host_rank()))[target].bytes);
    std::array<std::uint64_t, 2> agreed = {mine ? 0u : 1u, longest};
    if (auto met = largest(agreed); !met) return tl::unexpected(met.error());
    if (!mine) return tl::unexpected(mine.error());
    if (agreed[0] != 0) return tl::unexpected(sizes_differ_elsewhere(Kind::all_to_all));
    const std::size_t slice = slice_bytes(group_.host_size());
    return (agreed[1] + slice - 1) / slice;
}

/// Data outside regions go over the boards, slice by slice.
void Collectives::pull_staged(const std::byte* input, const Pieces& sent, std::byte* output, const Pieces& received,
                              std::size_t rounds, std::span<const char> in_region) {
    const std::size_t slice = slice_bytes(group_.host_size());
    const int here = group_.host_rank();
    const auto part = [slice](std::size_t round, std::size_t bytes) {
        const std::size_t begin = std::min(round * slice, bytes);
        return std::min(slice, bytes - begin);
    };
    for (std::size_t round = 0; round < rounds; ++round) {
        turn_ ^= 1;
        if (!in_region[static_cast<std::size_t>(here)])
            for (int local = 0; local < group_.host_size(); ++local)
                if (const int target = group_.number_on_host(local); sent.bytes(target) > 0)
                    std::memcpy(published(here) + static_cast<std::size_t>(local) * slice,
                                input + sent.offset(target) + std::min(round * slice, sent.bytes(target)),
                                part(round, sent.bytes(target)));
        barrier_.meet_host();
        for (int local = 0; local < group_.host_size(); ++local)
            if (const int source = group_.number_on_host(local);
                local != here && !in_region[static_cast<std::size_t>(local)] && received.bytes(source) > 0)
                std::memcpy(output + received.offset(source) + std::min(round * slice, received.bytes(source)),
                            published(local) + static_cast<std::size_t>(here) * slice,
                            part(round, received.bytes(source)));
    }
}

} // namespace kumiki::collective
