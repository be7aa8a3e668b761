// Random groups, each performing random collectives, from several threads of every rank at once. The expected results
// follow at each rank from random numbers that all ranks draw in the same way.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "support/build.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

using collective::Collectives;
using fabric::Group;
using Bytes = std::vector<std::byte>;

/// One rank's part in a random sequence of collectives of one group, which is the same at all of its ranks.
class Sequence {
public:
    Sequence(Collectives& all, std::span<std::byte> region, std::uint64_t seed)
        : all_(all),
          region_(region),
          random_(seed),
          own_(seed * 1000 + static_cast<std::uint64_t>(all.group().rank())),
          ranks_(all.group().size()),
          me_(all.group().rank()) {}

    void step() {
        ++number_;
        switch (random_.between(0, 12)) {
        case 0: ASSERT_TRUE(all_.barrier()); break;
        case 1:
            ASSERT_TRUE(all_.barrier_enter());
            ASSERT_TRUE(all_.barrier_wait());
            break;
        case 2: broadcast(); break;
        case 3: reduce(); break;
        case 4: all_to_all(); break;
        case 5: all_gather(); break;
        case 6: gather(); break;
        case 7: scatter(); break;
        case 8: scan(); break;
        case 9: reduce_scatter(); break;
        case 10: split(); break;
        case 11: all_collect(); break;
        default: subgroup();
        }
    }

private:
    /// Lengths near those at which collectives change their method.
    std::size_t length() {
        const std::size_t edges[] = {0, 8, 40, 1000, 65536, 131072};
        const std::size_t edge = edges[random_.between(0, random_.once_in(4) ? 5 : 3)];
        return edge + random_.between<std::size_t>(0, 16) - std::min<std::size_t>(edge, 8);
    }
    std::byte byte(int from, int to, std::size_t i) const {
        return static_cast<std::byte>(number_ * 7 + static_cast<std::uint64_t>(from) * 13 +
                                      static_cast<std::uint64_t>(to) * 29 + i);
    }
    Bytes bytes(int from, int to, std::size_t length) const {
        Bytes made(length);
        for (std::size_t i = 0; i < length; ++i) made[i] = byte(from, to, i);
        return made;
    }
    /// Each rank decides by itself whether its data are in a region.
    std::byte* place(Bytes& data) {
        if (data.size() > region_.size() || own_.once_in(2)) return data.data();
        std::ranges::copy(data, region_.begin());
        return region_.data();
    }
    std::vector<std::size_t> lengths(bool equal) {
        std::vector<std::size_t> made(static_cast<std::size_t>(ranks_), length());
        if (!equal)
            for (std::size_t& one : made) one = length();
        return made;
    }
    /// One after another, with a gap before each unless they are equal.
    static Collectives::Pieces pieces(const std::vector<std::size_t>& lengths, bool equal) {
        if (equal) return Collectives::Pieces::equal(lengths.front());
        std::vector<std::size_t> offsets(1, 1);
        for (const std::size_t length : lengths) offsets.push_back(offsets.back() + length + 1);
        return {[lengths](int rank) { return lengths[static_cast<std::size_t>(rank)]; },
                [offsets](int rank) { return offsets[static_cast<std::size_t>(rank)]; }};
    }
    std::size_t room(const Collectives::Pieces& pieces) const {
        return pieces.offset(ranks_ - 1) + pieces.bytes(ranks_ - 1);
    }
    std::size_t of(const std::vector<std::size_t>& lengths, int rank) const {
        return lengths[static_cast<std::size_t>(rank)];
    }
    std::span<const std::byte> piece(const Bytes& data, const Collectives::Pieces& pieces, int rank) const {
        return std::span(data).subspan(pieces.offset(rank), pieces.bytes(rank));
    }
    void expect(std::span<const std::byte> got, const Bytes& expected) {
        ASSERT_TRUE(std::ranges::equal(got, expected)) << "step " << number_ << ", " << expected.size() << " bytes";
    }

    void broadcast() {
        const int root = random_.between(0, ranks_ - 1);
        const std::size_t bytes = length();
        Bytes own = this->bytes(me_, 0, bytes);
        std::byte* const data = place(own);
        ASSERT_TRUE(all_.broadcast(data, bytes, root));
        expect({data, bytes}, this->bytes(root, 0, bytes));
    }

    std::int64_t value(int rank, std::size_t i) const {
        return static_cast<std::int64_t>(number_) + (rank + 1) * static_cast<std::int64_t>(i + 7);
    }
    /// Of ranks 0 to `last`.
    std::int64_t sum(int last, std::size_t i) const {
        std::int64_t all = 0;
        for (int rank = 0; rank <= last; ++rank) all += value(rank, i);
        return all;
    }
    std::vector<std::int64_t> values(std::size_t count) const {
        std::vector<std::int64_t> made(count);
        for (std::size_t i = 0; i < count; ++i) made[i] = value(me_, i);
        return made;
    }
    void reduce() {
        const int root = random_.once_in(2) ? Collectives::every_rank : random_.between(0, ranks_ - 1);
        auto data = values(length() / 8);
        ASSERT_TRUE(all_.reduce(data.data(), data.data(), data.size(), KUMIKI_INT64, KUMIKI_SUM, root));
        const bool has_result = root == Collectives::every_rank || root == me_;
        for (std::size_t i = 0; i < data.size(); ++i)
            ASSERT_EQ(data[i], has_result ? sum(ranks_ - 1, i) : value(me_, i)) << i;
    }
    void scan() {
        const auto input = values(length() / 8);
        std::vector<std::int64_t> output(input.size());
        const bool in_place = own_.once_in(2);
        if (in_place) output = input;
        ASSERT_TRUE(
            all_.scan(in_place ? output.data() : input.data(), output.data(), input.size(), KUMIKI_INT64, KUMIKI_SUM));
        for (std::size_t i = 0; i < output.size(); ++i)
            ASSERT_EQ(output[i], sum(me_, i)) << i << " of " << output.size() << " at rank " << me_ << " of " << ranks_;
    }
    void reduce_scatter() {
        auto counts = lengths(random_.once_in(2));
        std::size_t total = 0, begin = 0;
        for (int rank = 0; rank < ranks_; ++rank) {
            std::size_t& count = counts[static_cast<std::size_t>(rank)];
            count /= 16;
            if (rank < me_) begin += count;
            total += count;
        }
        const auto input = values(total);
        std::vector<std::int64_t> output(of(counts, me_));
        ASSERT_TRUE(all_.reduce_scatter(
            input.data(), output.data(), [&](int rank) { return of(counts, rank); }, KUMIKI_INT64, KUMIKI_SUM));
        for (std::size_t i = 0; i < output.size(); ++i) ASSERT_EQ(output[i], sum(ranks_ - 1, begin + i)) << i;
    }

    void all_to_all() {
        const bool equal = random_.once_in(2);
        const auto each = lengths(equal);
        // The length of the piece from rank a to rank b follows from a's and b's numbers.
        const auto between = [&](int from, int to) { return of(each, (from + to) % ranks_); };
        std::vector<std::size_t> sent, received;
        for (int rank = 0; rank < ranks_; ++rank) {
            sent.push_back(between(me_, rank));
            received.push_back(between(rank, me_));
        }
        const auto in = pieces(sent, equal), out = pieces(received, equal);
        Bytes input(room(in)), output(room(out));
        for (int rank = 0; rank < ranks_; ++rank)
            std::ranges::copy(bytes(me_, rank, of(sent, rank)),
                              input.begin() + static_cast<std::ptrdiff_t>(in.offset(rank)));
        ASSERT_TRUE(all_.all_to_all(place(input), in, output.data(), out));
        for (int rank = 0; rank < ranks_; ++rank)
            expect(piece(output, out, rank), bytes(rank, me_, of(received, rank)));
    }
    void all_gather() {
        const bool equal = random_.once_in(2);
        const auto each = lengths(equal);
        const auto out = pieces(each, equal);
        Bytes input = bytes(me_, 0, of(each, me_)), output(room(out));
        const bool in_place = own_.once_in(3);
        std::byte* const own = output.data() + out.offset(me_);
        if (in_place) std::ranges::copy(input, own);
        ASSERT_TRUE(all_.all_gather(in_place ? own : place(input), input.size(), output.data(), out));
        for (int rank = 0; rank < ranks_; ++rank) expect(piece(output, out, rank), bytes(rank, 0, of(each, rank)));
    }
    void all_collect() {
        const auto each = lengths(false);
        const Bytes input = bytes(me_, 0, of(each, me_));
        Collectives::Collected all;
        ASSERT_TRUE(all_.all_collect(input, all));
        for (int rank = 0; rank < ranks_; ++rank) expect(all.of(rank), bytes(rank, 0, of(each, rank)));
    }
    void gather() {
        const bool equal = random_.once_in(2);
        const int root = random_.between(0, ranks_ - 1);
        const auto each = lengths(equal);
        const auto out = pieces(each, equal);
        Bytes input = bytes(me_, 0, of(each, me_)), output(me_ == root ? room(out) : 0);
        ASSERT_TRUE(all_.gather(place(input), input.size(), output.data(), out, root));
        for (int rank = 0; rank < ranks_ && me_ == root; ++rank)
            expect(piece(output, out, rank), bytes(rank, 0, of(each, rank)));
    }
    void scatter() {
        const bool equal = random_.once_in(2);
        const int root = random_.between(0, ranks_ - 1);
        const auto each = lengths(equal);
        const auto in = pieces(each, equal);
        Bytes input(me_ == root ? room(in) : 0), output(of(each, me_));
        for (int rank = 0; rank < ranks_ && me_ == root; ++rank)
            std::ranges::copy(bytes(root, rank, of(each, rank)),
                              input.begin() + static_cast<std::ptrdiff_t>(in.offset(rank)));
        ASSERT_TRUE(all_.scatter(input.data(), in, output.data(), output.size(), root));
        expect(output, bytes(root, me_, of(each, me_)));
    }

    /// Making a group itself performs a few collectives.
    void use(std::unique_ptr<Group> made, const std::vector<int>& expected, std::uint64_t seed) {
        ASSERT_EQ(made->size(), static_cast<int>(expected.size()));
        for (int rank = 0; rank < made->size(); ++rank)
            ASSERT_EQ(made->rank_in_job(rank), all_.group().rank_in_job(expected[static_cast<std::size_t>(rank)]));
        Collectives smaller(*made);
        Sequence inside(smaller, {}, seed);
        inside.depth_ = depth_ + 1;
        for (int i = 0; i < 3 && !testing::Test::HasFatalFailure(); ++i) inside.step();
    }
    void split() {
        std::vector<std::pair<int, int>> wishes; // colour and key of each
        for (int rank = 0; rank < ranks_; ++rank) wishes.emplace_back(random_.between(-1, 1), random_.between(-1, 2));
        const auto [colour, key] = wishes[static_cast<std::size_t>(me_)];
        const std::uint64_t seed = random_.word();
        if (depth_ > 1) return;
        auto made = all_.split(colour, key);
        ASSERT_TRUE(made) << made.error().message;
        ASSERT_EQ(*made == nullptr, colour < 0);
        if (colour < 0) return;
        std::vector<int> expected;
        for (int rank = 0; rank < ranks_; ++rank)
            if (wishes[static_cast<std::size_t>(rank)].first == colour) expected.push_back(rank);
        std::ranges::stable_sort(expected, {}, [&](int r) { return wishes[static_cast<std::size_t>(r)].second; });
        use(std::move(*made), expected, seed);
    }
    void subgroup() {
        std::vector<int> ranks(static_cast<std::size_t>(ranks_));
        for (int rank = 0; rank < ranks_; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
        for (std::size_t i = ranks.size() - 1; i > 0; --i)
            std::swap(ranks[i], ranks[random_.between<std::size_t>(0, i)]);
        ranks.resize(random_.between<std::size_t>(0, ranks.size()));
        const std::uint64_t seed = random_.word();
        if (depth_ > 1) return;
        auto made = all_.subgroup(ranks);
        ASSERT_TRUE(made) << made.error().message;
        const bool is_in = std::ranges::find(ranks, me_) != ranks.end();
        ASSERT_EQ(*made != nullptr, is_in);
        if (is_in) use(std::move(*made), ranks, seed);
    }

    Collectives& all_;
    std::span<std::byte> region_;
    Random random_; ///< in step at all ranks of the group
    Random own_;
    int ranks_, me_, depth_ = 0;
    std::uint64_t number_ = 0;
};

struct Shape {
    int ranks;
    bool crowded;
};
class GroupsStress : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, GroupsStress,
                         testing::Values(Shape{1, false}, Shape{2, false}, Shape{3, true}, Shape{5, false},
                                         Shape{6, true}));

TEST_P(GroupsStress, RandomGroupsFromSeveralThreads) {
    const Watchdog watchdog("random groups", std::chrono::seconds(110));
    constexpr int threads = 3;
    constexpr std::size_t region_bytes = 150000;
    run_ranks_as_threads({.ranks = GetParam().ranks, .crowded = GetParam().crowded}, [&](Rank& rank) {
        std::vector<std::span<std::byte>> regions;
        for (int thread = 0; thread < threads; ++thread)
            regions.emplace_back(static_cast<std::byte*>(rank.collectives.allocate(region_bytes).value()),
                                 region_bytes);
        Random random(1998); // in step at all ranks of the job
        for (std::size_t round = 0; round < rounds(20) && !testing::Test::HasFatalFailure(); ++round) {
            std::vector<std::thread> busy;
            for (int thread = 0; thread < threads; ++thread) {
                std::vector<int> colours;
                for (int each = 0; each < rank.size(); ++each) colours.push_back(random.between(0, 1));
                const int colour = colours[static_cast<std::size_t>(rank.rank())];
                const std::uint64_t seed = random.word() / 2 + static_cast<std::uint64_t>(colour);
                auto made = rank.collectives.split(colour, thread == 0 ? 0 : -rank.rank());
                ASSERT_TRUE(made) << made.error().message;
                busy.emplace_back([&, thread, seed, group = std::move(*made)] {
                    Collectives all(*group);
                    Sequence sequence(all, regions[static_cast<std::size_t>(thread)], seed);
                    for (int step = 0; step < 25 && !testing::Test::HasFatalFailure(); ++step) sequence.step();
                });
            }
            // The job is one of the groups.
            Sequence sequence(rank.collectives, {}, random.word());
            for (int step = 0; step < 25 && !testing::Test::HasFatalFailure(); ++step) sequence.step();
            for (std::thread& each : busy) each.join();
        }
    });
}

} // namespace
} // namespace kumiki::tests
