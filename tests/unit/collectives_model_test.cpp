// Collectives compared with the results that one process would compute: every type and operation, and random sequences
// of all of them.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

#include "support/build.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace kumiki::tests {
namespace {

using collective::Collectives;

/// The value of element `i` at rank `rank` of the `number`-th collective: every rank can compute every other's.
template <class T>
T value(std::uint64_t number, int rank, std::size_t i) {
    std::uint64_t bits = (number * 31 + static_cast<std::uint64_t>(rank)) * 0x9e3779b97f4a7c15 + i * 0xbf58476d1ce4e5b9;
    bits ^= bits >> 29;
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(static_cast<double>(bits % 2000003) / 1000.0 - 1000.0);
    else return static_cast<T>(bits); // the whole range, so that sums and products overflow
}

template <class T>
T combine(T a, T b, kumiki_operation operation) {
    if (operation == KUMIKI_MIN) return b < a ? b : a;
    if (operation == KUMIKI_MAX) return b > a ? b : a;
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        const auto x = static_cast<U>(a), y = static_cast<U>(b);
        return static_cast<T>(operation == KUMIKI_SUM ? x + y : x * y);
    } else {
        return operation == KUMIKI_SUM ? a + b : a * b;
    }
}

/// In the order that the interface documents: on each host in rank order, then in the order of hosts; overflows wrap
/// around.
template <class T>
T combined(std::uint64_t number, Rank& rank, std::size_t i, kumiki_operation operation) {
    const auto host_of = [&](int r) { return rank.fabric.network() ? rank.fabric.network()->hosts().host_of(r) : 0; };
    std::vector<T> of_hosts;
    for (int r = 0; r < rank.size(); ++r) { // each host has a block of ranks
        const T next = value<T>(number, r, i);
        if (host_of(r) == static_cast<int>(of_hosts.size())) of_hosts.push_back(next);
        else of_hosts.back() = combine(of_hosts.back(), next, operation);
    }
    T result = of_hosts[0];
    for (std::size_t host = 1; host < of_hosts.size(); ++host) result = combine(result, of_hosts[host], operation);
    return result;
}

template <class T>
void reduce(Rank& rank, std::uint64_t number, std::size_t count, kumiki_type type, kumiki_operation operation, int root,
            bool in_place) {
    // At an odd address: buffers need not be aligned.
    std::vector<std::byte> input(count * sizeof(T) + 1), output(count * sizeof(T) + 1, std::byte{0x77});
    for (std::size_t i = 0; i < count; ++i) {
        const T mine = value<T>(number, rank.rank(), i);
        std::memcpy(input.data() + 1 + i * sizeof(T), &mine, sizeof(T));
    }
    auto& result = in_place ? input : output;
    const auto before = result;
    ASSERT_TRUE(rank.collectives.reduce(input.data() + 1, result.data() + 1, count, type, operation, root));
    if (root != Collectives::every_rank && root != rank.rank()) {
        ASSERT_EQ(result, before) << "only the root's output is written";
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        T got;
        std::memcpy(&got, result.data() + 1 + i * sizeof(T), sizeof(T));
        const T expected = combined<T>(number, rank, i, operation);
        ASSERT_EQ(std::memcmp(&got, &expected, sizeof(T)), 0)
            << "element " << i << " of " << count << ": " << +got << " and not " << +expected;
    }
}

void reduce(Rank& rank, std::uint64_t number, std::size_t count, kumiki_type type, kumiki_operation operation, int root,
            bool in_place) {
    SCOPED_TRACE("reduction of " + std::to_string(count) + " of type " + std::to_string(type) + " by " +
                 std::to_string(operation));
    switch (type) {
    case KUMIKI_INT32: return reduce<std::int32_t>(rank, number, count, type, operation, root, in_place);
    case KUMIKI_INT64: return reduce<std::int64_t>(rank, number, count, type, operation, root, in_place);
    case KUMIKI_UINT32: return reduce<std::uint32_t>(rank, number, count, type, operation, root, in_place);
    case KUMIKI_UINT64: return reduce<std::uint64_t>(rank, number, count, type, operation, root, in_place);
    case KUMIKI_FLOAT: return reduce<float>(rank, number, count, type, operation, root, in_place);
    case KUMIKI_DOUBLE: return reduce<double>(rank, number, count, type, operation, root, in_place);
    }
}

struct Shape {
    int ranks;
    bool crowded;
    WaitPolicy wait = WaitPolicy::adaptive;
};

class ModelTest : public testing::TestWithParam<Shape> {
protected:
    JobOptions options() const {
        return {.ranks = GetParam().ranks, .crowded = GetParam().crowded, .wait = GetParam().wait};
    }
};
INSTANTIATE_TEST_SUITE_P(Shapes, ModelTest,
                         testing::Values(Shape{1, false}, Shape{2, false}, Shape{3, true}, Shape{4, false},
                                         Shape{8, true}));

TEST_P(ModelTest, EveryTypeAndOperation) {
    const Watchdog watchdog("reductions");
    run_ranks_as_threads(options(), [](Rank& rank) {
        std::uint64_t number = 0;
        for (int type = KUMIKI_INT32; type <= KUMIKI_DOUBLE; ++type)
            for (int operation = KUMIKI_SUM; operation <= KUMIKI_MAX; ++operation)
                for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{11},
                                                std::size_t{3000}, std::size_t{17000}})
                    for (const int root : {Collectives::every_rank, rank.size() - 1}) {
                        ++number;
                        // Two of five: there are twelve of each type and operation, so each length and root is tried.
                        if (tests::sanitized && number % 5 > 1) continue;
                        reduce(rank, number, count, static_cast<kumiki_type>(type),
                               static_cast<kumiki_operation>(operation), root, number % 2 == 0);
                        if (testing::Test::HasFatalFailure()) return;
                    }
    });
}

class SequenceStress : public ModelTest {};
INSTANTIATE_TEST_SUITE_P(Shapes, SequenceStress,
                         testing::Values(Shape{1, false}, Shape{2, false}, Shape{2, false, WaitPolicy::sleep},
                                         Shape{2, true}, Shape{3, false}, Shape{4, true}, Shape{5, false},
                                         Shape{6, true, WaitPolicy::sleep}, Shape{7, true}, Shape{8, true}));

/// One rank's part in a random sequence of collectives, which is the same at all ranks.
class Sequence {
public:
    Sequence(Rank& rank, std::uint64_t seed)
        : rank_(rank), random_(seed), own_(static_cast<std::uint64_t>(rank.rank()) + 1) {
        region_ = static_cast<std::byte*>(rank.collectives.allocate(region_bytes).value());
    }

    void step() {
        ++number_;
        if (own_.once_in(20)) compute_for(std::chrono::microseconds(own_.between(0, 50)));
        switch (random_.between(0, 7)) {
        case 0: ASSERT_TRUE(rank_.collectives.barrier()); break;
        case 1:
            ASSERT_TRUE(rank_.collectives.barrier_enter());
            if (own_.once_in(3)) compute_for(std::chrono::microseconds(own_.between(0, 50)));
            ASSERT_TRUE(rank_.collectives.barrier_wait());
            break;
        case 2: broadcast(); break;
        case 3: all_to_all(); break;
        case 4: allocate_and_release(); break;
        default: {
            const auto type = random_.between(KUMIKI_INT32, KUMIKI_DOUBLE);
            const auto operation = random_.between(KUMIKI_SUM, KUMIKI_MAX);
            const std::size_t count = random_.once_in(4) ? length() / 8 : random_.between<std::size_t>(0, 12);
            const int root = random_.once_in(2) ? Collectives::every_rank : random_.between(0, rank_.size() - 1);
            reduce(rank_, number_, count, type, operation, root, random_.once_in(2));
        }
        }
    }

private:
    static constexpr std::size_t region_bytes = 400000;

    /// Sizes near those at which collectives change their method.
    std::size_t length() {
        const std::size_t edges[] = {0, 1, 40, 48, 65536, 131072, 200000};
        const std::size_t edge = edges[random_.between(0, 6)];
        return edge + random_.between<std::size_t>(0, 16) - std::min<std::size_t>(edge, 8);
    }

    std::byte byte(int from, int to, std::size_t i) const {
        return static_cast<std::byte>(number_ * 7 + static_cast<std::uint64_t>(from) * 13 +
                                      static_cast<std::uint64_t>(to) * 29 + i);
    }

    void broadcast() {
        const int root = random_.between(0, rank_.size() - 1);
        const std::size_t bytes = length();
        std::vector<std::byte> own(bytes);
        // Each rank decides by itself whether its memory is in a region.
        std::byte* data = own_.once_in(2) ? region_ : own.data();
        for (std::size_t i = 0; i < bytes; ++i) data[i] = byte(rank_.rank(), 0, i);
        ASSERT_TRUE(rank_.collectives.broadcast(data, bytes, root));
        for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(data[i], byte(root, 0, i)) << "byte " << i << " of " << bytes;
    }

    void all_to_all() {
        const auto ranks = static_cast<std::size_t>(rank_.size());
        // All ranks know the whole table of lengths.
        std::vector<std::size_t> lengths(ranks * ranks);
        const bool equal = random_.once_in(2);
        const std::size_t all = length() / ranks / 2;
        for (std::size_t& one : lengths) one = equal ? all : length() / ranks / 2;
        const auto bytes = [&](std::size_t from, std::size_t to) { return lengths[from * ranks + to]; };
        const auto me = static_cast<std::size_t>(rank_.rank());
        std::vector<std::size_t> in(ranks), out(ranks);
        std::size_t sent = 0, received = 0;
        for (std::size_t r = 0; r < ranks; ++r) {
            in[r] = sent + 3; // gaps before the pieces
            sent = in[r] + bytes(me, r);
            out[r] = received + 1;
            received = out[r] + bytes(r, me);
        }
        std::vector<std::byte> own(sent), output(received, std::byte{0});
        std::byte* input = sent <= region_bytes && own_.once_in(2) ? region_ : own.data();
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < bytes(me, r); ++i)
                input[in[r] + i] = byte(rank_.rank(), static_cast<int>(r), i);
        ASSERT_TRUE(rank_.collectives.all_to_all(input,
                                                 {[&](int r) { return bytes(me, static_cast<std::size_t>(r)); },
                                                  [&](int r) { return in[static_cast<std::size_t>(r)]; }},
                                                 output.data(),
                                                 {[&](int r) { return bytes(static_cast<std::size_t>(r), me); },
                                                  [&](int r) { return out[static_cast<std::size_t>(r)]; }}));
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < bytes(r, me); ++i)
                ASSERT_EQ(output[out[r] + i], byte(static_cast<int>(r), rank_.rank(), i))
                    << "byte " << i << " from rank " << r;
    }

    void allocate_and_release() {
        const std::size_t bytes = length() + 1;
        auto* fresh = static_cast<std::byte*>(rank_.collectives.allocate(bytes).value());
        ASSERT_EQ(fresh[0], std::byte{0});
        ASSERT_EQ(fresh[bytes - 1], std::byte{0});
        std::memset(fresh, 0xee, bytes);
        ASSERT_TRUE(rank_.collectives.release(fresh));
    }

    Rank& rank_;
    Random random_; ///< in step at all ranks
    Random own_;
    std::byte* region_;
    std::uint64_t number_ = 0;
};

void run_sequences(Rank& rank) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Sequence sequence(rank, seed);
        for (std::size_t step = 0; step < rounds(500) && !testing::Test::HasFatalFailure(); ++step) sequence.step();
    }
}

TEST_P(SequenceStress, OfRanksThatAreThreads) {
    const Watchdog watchdog("sequences of collectives");
    run_ranks_as_threads(options(), run_sequences);
}

TEST_P(SequenceStress, OfRanksThatAreProcesses) { run_ranks_as_processes(options(), run_sequences); }

TEST(ReductionTest, SpecialValues) {
    run_ranks_as_threads({.ranks = 3}, [](Rank& rank) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double values[] = {rank.rank() == 1 ? infinity : 1.0, rank.rank() == 1 ? std::nan("") : 1.0};
        ASSERT_TRUE(rank.collectives.reduce(values, values, 2, KUMIKI_DOUBLE, KUMIKI_SUM, Collectives::every_rank));
        EXPECT_EQ(values[0], infinity);
        EXPECT_TRUE(std::isnan(values[1]));
        std::int32_t least = std::numeric_limits<std::int32_t>::min();
        ASSERT_TRUE(rank.collectives.reduce(&least, &least, 1, KUMIKI_INT32, KUMIKI_SUM, Collectives::every_rank));
        EXPECT_EQ(least, std::numeric_limits<std::int32_t>::min()) << "three times the least wraps around to it";
    });
}

} // namespace
} // namespace kumiki::tests
