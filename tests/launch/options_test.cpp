#include "launch/command/options.hpp"

#include <gtest/gtest.h>

#include "settings/settings.hpp"

namespace kumiki::launch {
namespace {

tl::expected<Options, Reply> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "kumiki-run");
    words.push_back(nullptr);
    return parse_options(static_cast<int>(words.size()) - 1, words.data());
}

TEST(Options, EndAtTheProgram) {
    const auto options = parse({"-n", "3", "--label", "program", "-n", "4", "--", "--verbose", ""});
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_EQ(options->ranks, 3);
    EXPECT_TRUE(options->label);
    EXPECT_FALSE(options->verbose);
    EXPECT_EQ(options->program, (std::vector<std::string>{"program", "-n", "4", "--", "--verbose", ""}));
}

TEST(Options, AMarkerMakesAnythingAProgram) {
    const auto options = parse({"--", "--label", "x"});
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_FALSE(options->label);
    EXPECT_EQ(options->program, (std::vector<std::string>{"--label", "x"}));
}

TEST(Options, OnlyTheFirstMarkerIsOurs) {
    EXPECT_EQ(parse({"--", "--", "x"})->program, (std::vector<std::string>{"--", "x"}));
}

TEST(Options, SettingsThatAreGivenBecomeVariables) {
    const auto options = parse({"-t", "2", "--wait", "sleep", "x"});
    ASSERT_TRUE(options);
    std::vector<std::pair<std::string, std::string>> expected = {{"KUMIKI_WAIT", "sleep"}, {"KUMIKI_THREADS", "2"}};
    EXPECT_EQ(options->settings, expected);
    EXPECT_TRUE(parse({"x"})->settings.empty());
}

TEST(Options, EverySettingWithAnOptionIsInTheHelp) {
    const auto help = parse({"--help"});
    ASSERT_FALSE(help);
    EXPECT_EQ(help.error().code, 0);
    for (const Setting& setting : settings_table())
        if (!setting.option.empty()) {
            EXPECT_NE(help.error().text.find(setting.option), std::string::npos) << setting.option;
            EXPECT_NE(help.error().text.find(setting.name), std::string::npos) << setting.name;
        }
}

TEST(Options, WithoutANumberOfRanksTheHostsDecide) {
    EXPECT_FALSE(parse({"x"})->ranks);
    EXPECT_FALSE(parse({"x"})->names_hosts());
    const auto options = parse({"--hosts", "a,b", "x"});
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_FALSE(options->ranks);
    EXPECT_EQ(options->hosts, "a,b");
    EXPECT_EQ(options->remote_shell, (std::vector<std::string>{"ssh", "-o", "BatchMode=yes"}));
}

TEST(Options, TheAgentIsSplitAsAShellWould) {
    const auto options =
        parse({"--hosts", "a", "--remote-shell", "ip netns exec", "-x", "HOME", "-x", "A=b=c", "-x", "B=", "x", "-x"});
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_EQ(options->remote_shell, (std::vector<std::string>{"ip", "netns", "exec"}));
    EXPECT_EQ(options->exports, (std::vector<std::string>{"HOME", "A", "B"}));
    EXPECT_EQ(options->variables, (Variables{{"A", "b=c"}, {"B", ""}}));
    EXPECT_EQ(options->program, (std::vector<std::string>{"x", "-x"}));
    using Words = std::vector<std::string>;
    EXPECT_EQ(split_words(" a  'b c'\td\"e \\\" '\"f \\g '' "), (Words{"a", "b c", "de \" 'f", "g", ""}));
    EXPECT_EQ(split_words(R"('a\b' "it's")"), (Words{R"(a\b)", "it's"}));
    EXPECT_EQ(split_words("  "), Words{});
    EXPECT_FALSE(split_words("a 'b"));
    EXPECT_FALSE(split_words("a \"b"));
}

TEST(Options, MistakesAreUsageErrors) {
    for (const auto& words : std::vector<std::vector<const char*>>{{},
                                                                   {"-n", "0", "x"},
                                                                   {"-n", "99999999999", "x"},
                                                                   {"-n"},
                                                                   {"--wait", "x", "y"},
                                                                   {"--nothing", "x"},
                                                                   {"--hosts", "", "x"},
                                                                   {"--hosts", "a", "--hostfile", "f", "x"},
                                                                   {"--remote-shell", "rsh", "x"},
                                                                   {"--hosts", "a", "--remote-shell", "", "x"},
                                                                   {"--hosts", "a", "--remote-shell", "'", "x"},
                                                                   {"-x", "NO_SUCH_VARIABLE_ANYWHERE", "x"},
                                                                   {"--label=maybe", "x"}}) {
        const auto options = parse(words);
        ASSERT_FALSE(options);
        EXPECT_EQ(options.error().code, 2);
    }
}

} // namespace
} // namespace kumiki::launch
