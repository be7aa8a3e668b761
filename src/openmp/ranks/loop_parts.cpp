// How loops that the runtime deals out are divided among the ranks (docs/decisions/openmp-placement.md).
#include <algorithm>
#include <numeric>
#include <vector>

#include "openmp/ranks/ranks.hpp"

namespace kumiki::openmp {

/// Each rank's part begins as long as its share of the threads, or of the work. Where iterations must begin in order,
/// all are one part.
LoopParts Ranks::parts(const Loop& loop, int threads) {
    if (follows_rows(loop)) return parts_by_rows(loop, threads);
    if (!loop.schedule.is_shared_out()) return {};
    LoopParts parts(fabric_->size());
    if (loop.ordered || loop.schedule.monotonic || monotonic_) {
        parts.add(0, {0, loop.count});
        return parts;
    }
    // Only the last chunk of the loop may be shorter than the program has said.
    const std::uint64_t chunk = std::max<std::uint64_t>(loop.schedule.chunk, 1);
    const double chunks = static_cast<double>(loop.count) / static_cast<double>(chunk);
    double before = 0; // the parts of the ranks before, of all threads or work
    std::uint64_t begin = 0;
    for (int rank = 0; rank < fabric_->size(); ++rank) {
        before += measures_ ? speeds_[static_cast<std::size_t>(rank)] : part_of(rank, threads).count / double(threads);
        const bool is_last = rank + 1 == fabric_->size();
        const auto border = static_cast<std::uint64_t>(chunks * before + 0.5) * chunk;
        const std::uint64_t end = is_last ? loop.count : std::clamp(border, begin, loop.count);
        parts.add(rank, {begin, end});
        begin = end;
    }
    return parts;
}

/// Loops with a chunk size have said which thread has which iteration.
bool Ranks::follows_rows(const Loop& loop) const {
    constexpr std::uint64_t most = std::uint64_t{1} << 20; // they are looked at one by one
    if (!rows_ || loop.ordered || loop.schedule.monotonic || loop.count == 0 || loop.count > most) return false;
    if (!loop.schedule.is_shared_out() && loop.schedule.chunk != 0) return false;
    const auto is_row = [this](std::uint64_t value) {
        const auto row = static_cast<std::int64_t>(value);
        return row >= rows_->low && row <= rows_->high;
    };
    return is_row(loop.value(0)) && is_row(loop.value(loop.count - 1));
}

/// The affinity schedule. Homes change at barriers only, so all ranks find the same. A row whose home is open goes
/// where it would without this schedule.
LoopParts Ranks::parts_by_rows(const Loop& loop, int threads) {
    LoopParts parts(fabric_->size());
    int usual = 0; // the rank that has the iteration by the numbers of the threads
    const auto has = [&](int rank, std::uint64_t iteration) {
        const Part part = part_of(rank, threads);
        return iteration * static_cast<std::uint64_t>(threads) / loop.count <
               static_cast<std::uint64_t>(part.first + part.count);
    };
    for (std::uint64_t iteration = 0; iteration < loop.count; ++iteration) {
        while (!has(usual, iteration)) ++usual;
        const auto row = static_cast<std::uint64_t>(static_cast<std::int64_t>(loop.value(iteration)) - rows_->low);
        const auto home = shared_.home(base_ + rows_->address + row * rows_->row_bytes());
        parts.add(home && *home != KUMIKI_HOME_OPEN ? *home : usual, {iteration, iteration + 1});
    }
    return parts;
}

/// All ranks learn what part of the loops since the last region each has done; half of what was known before stays, so
/// that a loop which is unlike the others changes little. A rank that does little keeps a part by which it can show
/// more.
void Ranks::measure() {
    const auto mine = static_cast<double>(taken_.exchange(0, std::memory_order_relaxed));
    std::vector<double> taken(speeds_.size());
    check(
        collectives_.all_gather(&mine, sizeof mine, taken.data(), collective::Collectives::Pieces::equal(sizeof mine)));
    const double sum = std::accumulate(taken.begin(), taken.end(), 0.0);
    if (sum == 0) return;
    constexpr double least = 0.1; // of an equal part
    double parts = 0;
    for (std::size_t rank = 0; rank < speeds_.size(); ++rank) {
        speeds_[rank] = std::max((speeds_[rank] + taken[rank] / sum) / 2, least / static_cast<double>(speeds_.size()));
        parts += speeds_[rank];
    }
    for (double& each : speeds_) each /= parts;
}

} // namespace kumiki::openmp
