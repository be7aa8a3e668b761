// The ways of panels and rows: everyone gets every part once, from one that has it.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "linpack/routes.hpp"

namespace kumiki::linpack {
namespace {

/// Follows each part from the source; returns how many parts each position sends.
std::map<int, int> follow(const Route& route, int receivers) {
    std::map<int, int> sent;
    for (int part = 0; part < route.parts(); ++part) {
        std::map<int, int> got;
        std::deque<int> have{0};
        while (!have.empty()) {
            const int position = have.front();
            have.pop_front();
            for (const int next : route.next(position, part)) {
                EXPECT_GE(next, 1);
                EXPECT_LE(next, receivers);
                EXPECT_EQ(++got[next], 1) << "part " << part << " to " << next;
                if (got[next] > 1) return sent;
                ++sent[position];
                have.push_back(next);
            }
        }
        EXPECT_EQ(got.size(), static_cast<std::size_t>(receivers)) << "part " << part;
    }
    return sent;
}

constexpr Broadcast broadcasts[] = {Broadcast::ring,      Broadcast::ring_modified,
                                    Broadcast::two_rings, Broadcast::two_rings_modified,
                                    Broadcast::scattered, Broadcast::scattered_modified};

TEST(Route, BringsEveryPartToEveryoneOnce) {
    for (int receivers = 0; receivers <= 17; ++receivers) {
        for (const Broadcast kind : broadcasts) {
            SCOPED_TRACE(testing::Message() << "broadcast " << static_cast<int>(kind) << " to " << receivers);
            follow(Route::of(kind, receivers), receivers);
        }
        for (const Swap kind : {Swap::exchange, Swap::ring}) {
            SCOPED_TRACE(testing::Message() << "swap " << static_cast<int>(kind) << " to " << receivers);
            follow(Route::of(kind, receivers), receivers);
        }
    }
}

TEST(Route, ComesFromOneThatIsNearerToTheSource) {
    for (const Swap kind : {Swap::exchange, Swap::ring})
        for (int position = 0; position <= 12; ++position)
            for (const int next : Route::of(kind, 12).next(position, 0)) EXPECT_GT(next, position);
}

TEST(Route, ArrivesInTheOrderInWhichThePartsAreAwaited) {
    // A part that a position awaits as its i-th one was, at the position that passes it on, earlier than that.
    for (int receivers = 1; receivers <= 9; ++receivers)
        for (const Broadcast kind : {Broadcast::scattered, Broadcast::scattered_modified}) {
            const Route route = Route::of(kind, receivers);
            const auto turn = [&](int position, int part) {
                const std::vector<int> order = route.arrivals(position);
                return std::ranges::find(order, part) - order.begin();
            };
            for (int position = 1; position <= receivers; ++position)
                for (int part = 0; part < route.parts(); ++part)
                    for (const int next : route.next(position, part)) EXPECT_LT(turn(position, part), turn(next, part));
        }
}

TEST(Route, OfTheModifiedFormsServesTheNextOwnerFirst) {
    for (const Broadcast kind :
         {Broadcast::ring_modified, Broadcast::two_rings_modified, Broadcast::scattered_modified}) {
        const Route route = Route::of(kind, 5);
        EXPECT_EQ(route.next(0, 0).front(), 1);
        EXPECT_TRUE(route.next(1, 0).empty());
    }
}

TEST(Route, SharesTheWork) {
    EXPECT_EQ(follow(Route::of(Broadcast::ring, 6), 6)[0], 1);
    EXPECT_EQ(follow(Route::of(Broadcast::two_rings, 6), 6)[0], 2);
    // Parts are a sixth of a panel: nobody sends more than one panel.
    const Route scattered = Route::of(Broadcast::scattered, 6);
    EXPECT_EQ(scattered.parts(), 6);
    for (const auto& [position, parts] : follow(scattered, 6)) EXPECT_LE(parts, 6) << position;
    EXPECT_EQ(Route::of(Swap::exchange, 7).next(0, 0), (std::vector<int>{1, 2, 4}));
    EXPECT_EQ(Route::of(Swap::ring, 7).next(3, 0), std::vector<int>{4});
}

TEST(Travel, MixesByTheColumns) {
    const Travel travel{Broadcast::ring, Swap::mixed, 64};
    EXPECT_EQ(travel.swap_of(64), Swap::exchange);
    EXPECT_EQ(travel.swap_of(65), Swap::ring);
    EXPECT_EQ((Travel{Broadcast::ring, Swap::exchange, 0}).swap_of(65), Swap::exchange);
}

} // namespace
} // namespace kumiki::linpack
