#include "kernels/streams/lane.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "kernels/common/range.hpp"

namespace kumiki::kernels::streams {
namespace {

/// The length of a piece of both memories together: long enough for the prefetchers, and short compared with any
/// second-level cache.
constexpr std::size_t piece_bytes = std::size_t{32} << 10;

std::size_t lines_of(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes; }

} // namespace

Lane::Lane(const Traffic& of_all, std::size_t workers, std::size_t index)
    : read_lines_(share(lines_of(of_all.read), workers, index).size()),
      updated_lines_(share(lines_of(of_all.update), workers, index).size()),
      pieces_(1 + (read_lines_ + updated_lines_) * line_bytes / piece_bytes) {
    try {
        read_.reserve(read_lines_);
        updated_.reserve(updated_lines_);
    } catch (const std::exception&) {
        throw std::runtime_error("no memory for " + std::to_string(of_all.read) + " and " +
                                 std::to_string(of_all.update) + " bytes; give a smaller --read and --update");
    }
}

void Lane::fill() {
    read_.resize(read_lines_);
    updated_.resize(updated_lines_);
    // The numbers differ, so that a line that is read twice cannot make up for one that was left out.
    std::uint64_t next = 1;
    for (Line& line : read_)
        for (std::uint64_t& word : line) word = next++;
}

void Lane::pass() {
    const bool backwards = passes_++ % 2 == 1;
    for (std::size_t i = 0; i < pieces_; ++i) {
        const std::size_t piece = backwards ? pieces_ - 1 - i : i;
        const Range read = share(read_.size(), pieces_, piece), updated = share(updated_.size(), pieces_, piece);
        sum_ += sum_of(read_, read.begin, read.end);
        count_up(updated_, updated.begin, updated.end);
    }
}

std::uint64_t Lane::sum_of(const Lines& lines, std::size_t begin, std::size_t end) {
    // So many independent sums hide the latency of an addition.
    std::array<Line, 4> sums{};
    const Line* line = lines.data() + begin;
    const Line* const last = lines.data() + end;
    for (; last - line >= static_cast<std::ptrdiff_t>(sums.size()); line += sums.size())
        for (std::size_t i = 0; i < sums.size(); ++i)
#pragma omp simd
            for (std::size_t word = 0; word < Line().size(); ++word) sums[i][word] += line[i][word];
    for (; line != last; ++line)
        for (std::size_t word = 0; word < Line().size(); ++word) sums[0][word] += (*line)[word];
    std::uint64_t total = 0;
    for (const Line& sum : sums) total = std::accumulate(sum.begin(), sum.end(), total);
    return total;
}

void Lane::count_up(Lines& lines, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
#pragma omp simd
        for (std::size_t word = 0; word < Line().size(); ++word) ++lines[i][word];
}

bool Lane::right() const {
    const std::uint64_t words = read_.size() * Line().size();
    if (sum_ != passes_ * (words * (words + 1) / 2)) return false; // modulo 2^64, as the sum is
    return std::ranges::all_of(updated_, [this](const Line& line) {
        return std::ranges::all_of(line, [this](std::uint64_t word) { return word == passes_; });
    });
}

} // namespace kumiki::kernels::streams
