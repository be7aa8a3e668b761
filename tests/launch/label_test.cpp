#include "launch/streams/printer.hpp"

#include <gtest/gtest.h>
#include <random>

namespace kumiki::launch {
namespace {

TEST(Lines, HoldsALineUntilItsEnd) {
    Lines lines = Lines::labelled(7);
    std::string out;
    lines.add("one\ntw", out);
    EXPECT_EQ(out, "[7] one\n");
    lines.add("o", out);
    EXPECT_EQ(out, "[7] one\n");
    lines.add("\n\nthree", out);
    EXPECT_EQ(out, "[7] one\n[7] two\n[7] \n");
    lines.finish(out);
    EXPECT_EQ(out, "[7] one\n[7] two\n[7] \n[7] three\n");
    lines.finish(out);
    EXPECT_EQ(out, "[7] one\n[7] two\n[7] \n[7] three\n");
}

TEST(Lines, CutsALineThatDoesNotEnd) {
    Lines lines = Lines::labelled(0);
    std::string out;
    const std::string piece(std::size_t{1} << 20, 'x');
    std::size_t bytes = 0;
    for (; out.empty() && bytes <= Lines::longest_labelled; bytes += piece.size()) lines.add(piece, out);
    EXPECT_EQ(bytes, Lines::longest_labelled);
    EXPECT_EQ(out.size(), bytes + std::string("[0] \n").size()) << "nothing is lost";
}

TEST(Lines, DoesNotDependOnHowTheTextArrives) {
    std::mt19937 dice(1);
    std::string text;
    for (int i = 0; i < 5000; ++i) text += dice() % 9 == 0 ? '\n' : static_cast<char>('a' + dice() % 26);
    std::string expected;
    Lines whole = Lines::labelled(0);
    whole.add(text, expected);
    whole.finish(expected);
    for (int round = 0; round < 50; ++round) {
        Lines pieces = Lines::labelled(0);
        std::string out;
        for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
            length = 1 + dice() % 100;
            pieces.add(std::string_view(text).substr(at, length), out);
        }
        pieces.finish(out);
        ASSERT_EQ(out, expected);
    }
}

TEST(Lines, WithoutALabelAreKeptForAMomentOnly) {
    Lines lines("");
    std::string out;
    lines.add("one\nName? ", out);
    EXPECT_EQ(out, "one\n");
    EXPECT_TRUE(lines.show_what_waits(out)) << "it came within this moment";
    EXPECT_EQ(out, "one\n");
    EXPECT_FALSE(lines.show_what_waits(out));
    EXPECT_EQ(out, "one\nName? ");
    lines.add("two\nthree", out);
    lines.finish(out);
    EXPECT_EQ(out, "one\nName? two\nthree") << "nothing is added";
}

} // namespace
} // namespace kumiki::launch
