#include "launch/command/hosts.hpp"

#include <gtest/gtest.h>

namespace kumiki::launch {
namespace {

/// "a:0+3 b:3+2": for each host its first rank and its number of ranks.
std::string dealt(std::string_view list, std::optional<int> ranks) {
    const auto hosts = hosts_from_list(list);
    if (!hosts) return hosts.error().message;
    const auto shares = deal(*hosts, ranks);
    if (!shares) return shares.error().message;
    std::string text;
    for (const Share& share : *shares)
        text += (text.empty() ? "" : " ") + share.host + ":" + std::to_string(share.first) + "+" +
                std::to_string(share.ranks);
    return text;
}

TEST(Hosts, RanksAreDealtInBlocksAsEvenlyAsPossible) {
    EXPECT_EQ(dealt("a,b,c", 8), "a:0+3 b:3+3 c:6+2");
    EXPECT_EQ(dealt("a,b", 4), "a:0+2 b:2+2");
    EXPECT_EQ(dealt("a", 4096), "a:0+4096");
    EXPECT_EQ(dealt("a, b ,c", {}), "a:0+1 b:1+1 c:2+1");
}

TEST(Hosts, ThatGetNothingAreLeftOut) {
    EXPECT_EQ(dealt("a,b,c", 2), "a:0+1 b:1+1");
    EXPECT_EQ(dealt("a:2,b:4", 2), "a:0+2");
}

TEST(Hosts, SlotsAreFilledInTurn) {
    EXPECT_EQ(dealt("a:2,b:4", 5), "a:0+2 b:2+3");
    EXPECT_EQ(dealt("a:2,b:4", {}), "a:0+2 b:2+4");
    EXPECT_EQ(dealt("a,b:2", {}), "a:0+1 b:1+2") << "a host without slots has one, when others have slots";
}

TEST(Hosts, MoreRanksThanSlotsNamesBothNumbersAndTheMend) {
    const auto sentence = dealt("a:2,b:4", 7);
    EXPECT_EQ(sentence.find("7 ranks are more than the 6 slots"), 0u) << sentence;
    EXPECT_NE(sentence.find("-n 6"), std::string::npos) << sentence;
}

TEST(Hosts, TooManyForAJob) { EXPECT_EQ(dealt("a:4096,b", {}), "4097 ranks are too many: a job has at most 4096"); }

TEST(Hosts, SharesKnowTheWholeJob) {
    const auto shares = deal(*hosts_from_list("a,b"), 3);
    ASSERT_EQ(shares->size(), 2u);
    EXPECT_EQ((*shares)[1].size, 3);
    EXPECT_FALSE((*shares)[1].alone());
    EXPECT_TRUE(deal(*hosts_from_list("a"), 3)->front().alone());
}

TEST(Hosts, MistakesInAList) {
    const auto mistake = [](std::string_view list) { return hosts_from_list(list).error().message; };
    EXPECT_EQ(mistake("a,b,a"), "host a is named twice; to give it more ranks write a:2");
    EXPECT_EQ(mistake("a,,b"), "the name of a host is empty");
    EXPECT_EQ(mistake(":2"), "the name of a host is empty");
    EXPECT_EQ(mistake("a:x"), "the slots of host a are \"x\"; they must be a whole number from 1 to 4096");
    EXPECT_FALSE(hosts_from_list("a:0"));
    EXPECT_FALSE(hosts_from_list("a:"));
    EXPECT_FALSE(hosts_from_list("-oProxyCommand=x"));
    EXPECT_EQ(hosts_from_list("fe80::1")->front().name, "fe80::1");
    EXPECT_EQ(hosts_from_list("me@node-1.site:3")->front().slots, 3);
}

TEST(Hosts, AFileHasALineForEach) {
    const auto hosts = hosts_from_text("# cluster\n\na\n b slots=2 # the big one\r\nc:3\n\td\tslots=4", "file");
    ASSERT_TRUE(hosts) << hosts.error().message;
    ASSERT_EQ(hosts->size(), 4u);
    const std::vector<std::pair<std::string, std::optional<int>>> expected = {{"a", {}}, {"b", 2}, {"c", 3}, {"d", 4}};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ((*hosts)[i].name, expected[i].first);
        EXPECT_EQ((*hosts)[i].slots, expected[i].second);
    }
}

TEST(Hosts, AFileSaysWhatTheRanksOfAHostGet) {
    const auto hosts = hosts_from_text("a slots=2 threads=4 cores=0-3,8\nb threads=4,2,2\nc:1 threads=3,3", "file");
    ASSERT_TRUE(hosts) << hosts.error().message;
    EXPECT_EQ((*hosts)[0].request.threads, std::vector{4});
    EXPECT_EQ((*hosts)[0].request.cores, (std::vector{0, 1, 2, 3, 8}));
    EXPECT_EQ((*hosts)[1].request.threads, (std::vector{4, 2, 2}));
    EXPECT_EQ((*hosts)[1].slots, 3) << "a number for each rank says how many there are";
    EXPECT_EQ((*hosts)[2].slots, 1);
}

TEST(Hosts, MistakesInAFileNameTheLine) {
    const auto mistake = [](std::string_view text) { return hosts_from_text(text, "my.hosts").error().message; };
    EXPECT_EQ(mistake("a\n# b\na\n"), "my.hosts, line 3: host a is named twice; to give it more ranks write a:2");
    EXPECT_EQ(mistake("a\nb max_slots=3\n"),
              "my.hosts, line 2: \"max_slots=3\" is not understood; a line is a name, and any of slots=N, threads=N, "
              "cores=LIST and devices=LIST");
    EXPECT_EQ(mistake("a slots=no"),
              "my.hosts, line 1: slots=no is not usable: it must be a whole number from 1 to 4096");
    EXPECT_EQ(mistake("a:2 slots=3"), "my.hosts, line 1: the slots of host a are given twice");
    EXPECT_EQ(mistake("slots=3"), "my.hosts, line 1: the line does not begin with the name of a host");
    EXPECT_EQ(mistake("a threads=2 threads=3"), "my.hosts, line 1: threads is given twice in one line");
    EXPECT_EQ(mistake("a threads=2,"),
              "my.hosts, line 1: threads=2, is not usable: it must be a whole number from 1 to "
              "4096, or several with commas between them");
    EXPECT_EQ(mistake("a cores=3-1"),
              "my.hosts, line 1: cores=3-1 is not usable: it must be a list of numbers up to 65535, such as 0-3,8");
    EXPECT_EQ(mistake("a cores=0-3,2"), "my.hosts, line 1: cores=0-3,2 is not usable: it names 2 twice");
    EXPECT_EQ(mistake("\n# nobody\n"), "my.hosts names no host");
    EXPECT_EQ(mistake(""), "my.hosts names no host");
}

} // namespace
} // namespace kumiki::launch
