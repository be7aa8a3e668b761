#include "support/rank_pair.hpp"

#include <cstddef>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

namespace kumiki::tests {
namespace {

/// Exchanges the cards of the two ranks.
fabric::Wireup exchange_over(int read_from, int write_to, int rank) {
    return [=](const std::vector<std::byte>& own) -> Result<std::vector<std::vector<std::byte>>> {
        const std::size_t length = own.size();
        EXPECT_EQ(write(write_to, &length, sizeof length), static_cast<ssize_t>(sizeof length));
        EXPECT_EQ(write(write_to, own.data(), length), static_cast<ssize_t>(length));
        std::size_t theirs = 0;
        EXPECT_EQ(read(read_from, &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
        std::vector<std::byte> card(theirs);
        for (std::size_t at = 0; at < theirs;) {
            const auto more = read(read_from, card.data() + at, theirs - at);
            if (more <= 0) return fail(KUMIKI_ERROR_ENVIRONMENT, "the other rank has gone");
            at += static_cast<std::size_t>(more);
        }
        return rank == 0 ? std::vector{own, card} : std::vector{card, own};
    };
}

} // namespace

RankPair::RankPair() {
    for (auto& each : pipes_) EXPECT_EQ(pipe(each.data()), 0);
}

RankPair::~RankPair() {
    for (const auto& each : pipes_)
        for (const int end : each) close(end);
}

void RankPair::start(int rank, const std::function<void(Rank&)>& body) {
    processes_.start([&] { run(rank, body); });
}

void RankPair::run(int rank, const std::function<void(Rank&)>& body) {
    const JobOptions options{.ranks = 1};
    Settings settings = settings_of(options, 0);
    settings.rank = rank;
    settings.size = 2;
    settings.interface = "lo";
    const auto own = static_cast<std::size_t>(rank);
    auto fabric =
        fabric::Fabric::join(settings, make_segment(options), exchange_over(pipes_[own][0], pipes_[1 - own][1], rank))
            .value();
    collective::Collectives collectives(fabric->everybody());
    Rank mine{*fabric, collectives};
    body(mine);
    EXPECT_TRUE(collectives.barrier());
    fabric->leave();
}

} // namespace kumiki::tests
