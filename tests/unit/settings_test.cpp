#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace kumiki {
namespace {

/// An environment of the given "NAME=value" entries.
class Environment {
public:
    explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {
        for (const std::string& entry : entries_) pointers_.push_back(entry.c_str());
        pointers_.push_back(nullptr);
    }
    const char* const* get() const { return pointers_.data(); }

private:
    std::vector<std::string> entries_;
    std::vector<const char*> pointers_;
};

Settings read(std::vector<std::string> entries) {
    const Environment environment(std::move(entries));
    auto settings = read_settings(environment.get());
    if (!settings) throw std::runtime_error(settings.error().message);
    return *settings;
}

TEST(SettingsTest, AnEmptyEnvironmentGivesTheDefaults) {
    const Settings settings = read({});
    EXPECT_EQ(settings.wait, WaitPolicy::adaptive);
    EXPECT_EQ(settings.spin_us, 300);
    EXPECT_EQ(settings.yield_us, 200);
    EXPECT_EQ(settings.nontemporal_bytes, std::uint64_t{32} << 20);
    EXPECT_EQ(settings.arena_bytes, 0u);
    EXPECT_FALSE(settings.fragment_bytes) << "as was tuned";
    EXPECT_EQ(settings.threads, std::vector{0});
    EXPECT_EQ(settings.bind, Binding::core);
    EXPECT_FALSE(settings.pin);
    EXPECT_FALSE(settings.crowded);
    EXPECT_EQ(settings.rank, 0);
    EXPECT_EQ(settings.size, 1);
    EXPECT_EQ(settings.segment, -1);
    EXPECT_TRUE(settings.cpus.empty());
}

TEST(SettingsTest, EachKindIsRead) {
    EXPECT_EQ(read({"KUMIKI_WAIT=adaptive"}).wait, WaitPolicy::adaptive);
    EXPECT_EQ(read({"KUMIKI_WAIT=spin"}).wait, WaitPolicy::spin);
    EXPECT_EQ(read({"KUMIKI_WAIT=yield"}).wait, WaitPolicy::yield);
    EXPECT_EQ(read({"KUMIKI_WAIT=sleep"}).wait, WaitPolicy::sleep);
    EXPECT_EQ(read({"KUMIKI_SPIN=0"}).spin_us, 0);
    EXPECT_EQ(read({"KUMIKI_YIELD=1000000000"}).yield_us, 1000000000);
    EXPECT_EQ(read({"KUMIKI_THREADS=4096"}).threads, std::vector{4096});
    EXPECT_EQ(read({"KUMIKI_THREADS=4,0,2"}).threads, (std::vector{4, 0, 2}));
    EXPECT_EQ(read({"KUMIKI_BIND=none"}).bind, Binding::none);
    EXPECT_EQ(read({"KUMIKI_BIND=core"}).bind, Binding::core);
    EXPECT_EQ(read({"KUMIKI_BIND=shared"}).bind, Binding::shared);
    EXPECT_TRUE(read({"KUMIKI_PIN=yes"}).pin);
    EXPECT_TRUE(read({"KUMIKI_PIN=1"}).pin);
    EXPECT_FALSE(read({"KUMIKI_PIN=0"}).pin);
    EXPECT_EQ(read({"KUMIKI_PREFIX=/opt/kumiki"}).native_prefix, "/opt/kumiki");
    const Settings rank = read({"KUMIKI_SIZE=4", "KUMIKI_RANK=3", "KUMIKI_SEGMENT=5", "KUMIKI_CPUS=0,2,7",
                                "KUMIKI_CROWDED=yes", "KUMIKI_JOB_THREADS=4,2,2,1", "KUMIKI_DEVICES=0,2"});
    EXPECT_EQ(rank.rank, 3);
    EXPECT_EQ(rank.size, 4);
    EXPECT_EQ(rank.segment, 5);
    EXPECT_EQ(rank.cpus, (std::vector{0, 2, 7}));
    EXPECT_TRUE(rank.crowded);
    EXPECT_EQ(rank.devices, (std::vector{0, 2}));
    EXPECT_EQ(Settings::of_rank(rank.job_threads, 3), 1);
    EXPECT_EQ(Settings::of_rank(rank.job_threads, 4), 0) << "there is no such rank";
    EXPECT_EQ(Settings::of_rank({7}, 4), 7) << "one number stands for all ranks";
    EXPECT_EQ(rank.local_rank, 3) << "without other words all ranks are on one host";
    EXPECT_EQ(rank.local_size, 4);
    const Settings remote =
        read({"KUMIKI_SIZE=4", "KUMIKI_RANK=3", "KUMIKI_LOCAL_SIZE=2", "KUMIKI_LOCAL_RANK=1", "KUMIKI_WIREUP=7",
              "KUMIKI_INTERFACE=eth0", "KUMIKI_NETWORK_DEVICES=ib0,mlx5_0:1", "KUMIKI_TIMEOUT=3"});
    EXPECT_EQ(remote.local_rank, 1);
    EXPECT_EQ(remote.local_size, 2);
    EXPECT_EQ(remote.wireup, 7);
    EXPECT_EQ(remote.interface, "eth0");
    EXPECT_EQ(remote.network_devices, "ib0,mlx5_0:1");
    EXPECT_EQ(remote.timeout_s, 3);
}

TEST(SettingsTest, FragmentsHaveALengthOrAreTuned) {
    EXPECT_EQ(read({"KUMIKI_FRAGMENT=4048"}).fragment_bytes, 4048u);
    EXPECT_EQ(read({"KUMIKI_FRAGMENT=0"}).fragment_bytes, 0u);
    EXPECT_EQ(read({"KUMIKI_FRAGMENT=tuned"}).fragment_bytes, std::nullopt);
    EXPECT_THROW(read({"KUMIKI_FRAGMENT=short"}), std::runtime_error);
}

TEST(SettingsTest, BytesMayHaveASuffix) {
    const auto arena = [](const char* text) { return read({std::string("KUMIKI_ARENA=") + text}).arena_bytes; };
    EXPECT_EQ(arena("4096"), 4096u);
    EXPECT_EQ(arena("64K"), std::uint64_t{64} << 10);
    EXPECT_EQ(arena("16M"), std::uint64_t{16} << 20);
    EXPECT_EQ(arena("2G"), std::uint64_t{2} << 30);
    EXPECT_EQ(arena("4194304T"), std::uint64_t{1} << 62) << "the largest that is allowed";
}

struct Bad {
    std::string variable, value;
    std::vector<std::string> choices; ///< what the message must offer
};

class BadSettingTest : public testing::TestWithParam<Bad> {};

TEST_P(BadSettingTest, IsRefusedWithVariableValueAndChoices) {
    const auto& [variable, value, choices] = GetParam();
    const Environment environment({variable + "=" + value});
    const auto settings = read_settings(environment.get());
    ASSERT_FALSE(settings) << variable << "=" << value;
    EXPECT_EQ(settings.error().status, KUMIKI_ERROR_ENVIRONMENT);
    const std::string& message = settings.error().message;
    EXPECT_NE(message.find(variable + "=" + value), std::string::npos) << message;
    for (const std::string& choice : choices) EXPECT_NE(message.find(choice), std::string::npos) << message;
}

const Bad bad_settings[] = {
    {"KUMIKI_WAIT", "sometimes", {"adaptive", "spin", "yield", "sleep"}},
    {"KUMIKI_WAIT", "", {"adaptive"}},
    {"KUMIKI_WAIT", "Spin", {"spin"}},
    {"KUMIKI_SPIN", "-1", {"whole number", "0", "1000000000"}},
    {"KUMIKI_SPIN", "1000000001", {"1000000000"}},
    {"KUMIKI_SPIN", "10us", {"whole number"}},
    {"KUMIKI_SPIN", "1e3", {"whole number"}},
    {"KUMIKI_YIELD", " 5", {"whole number"}},
    {"KUMIKI_THREADS", "4097", {"0", "4096"}},
    {"KUMIKI_THREADS", "", {"whole number"}},
    {"KUMIKI_THREADS", "4,", {"one for each rank"}},
    {"KUMIKI_THREADS", "4,4097", {"4096"}},
    {"KUMIKI_THREADS", "99999999999999999999", {"4096"}},
    {"KUMIKI_BIND", "socket", {"core", "none"}},
    {"KUMIKI_PIN", "maybe", {"yes", "no"}},
    {"KUMIKI_ARENA", "K", {"64K"}},
    {"KUMIKI_ARENA", "1.5G", {"2G"}},
    {"KUMIKI_ARENA", "-4096", {"4096"}},
    {"KUMIKI_ARENA", "4194305T", {"bytes"}},
    {"KUMIKI_ARENA", "16m", {"16M"}},
    {"KUMIKI_NONTEMPORAL", "often", {"bytes"}},
    {"KUMIKI_RANK", "1", {"KUMIKI_SIZE=1", "launcher"}},
    {"KUMIKI_RANK", "-1", {"0"}},
    {"KUMIKI_SIZE", "0", {"1", "4096"}},
    {"KUMIKI_SEGMENT", "-2", {"-1"}},
    {"KUMIKI_LOCAL_SIZE", "2", {"KUMIKI_SIZE=1", "launcher"}},
    {"KUMIKI_TIMEOUT", "0", {"1", "86400"}},
    {"KUMIKI_CPUS", "0,,1", {"0,1,2"}},
    {"KUMIKI_CPUS", "0-3", {"0,1,2"}},
    {"KUMIKI_CPUS", "-1", {"0,1,2"}},
    {"KUMIKI_CPUS", "0,1,", {"0,1,2"}},
    {"KUMIKI_CROWDED", "very", {"yes", "no"}},
};
INSTANTIATE_TEST_SUITE_P(Values, BadSettingTest, testing::ValuesIn(bad_settings));

TEST(SettingsTest, UnknownVariablesAreRemarkedWithTheNearestSetting) {
    const Environment environment({"KUMIKI_WIAT=spin", "KUMIKI_THREAD=2", "KUMIKI_NONTEMPORAL_BYTES=1",
                                   "KUMIKI_WAIT=spin", "HOME=/", "KUMIKIX=1", "NOT_KUMIKI_WAIT=1"});
    const auto remarks = unknown_settings(environment.get());
    ASSERT_EQ(remarks.size(), 3u);
    const auto expect = [](const std::string& remark, const std::string& unknown, const std::string& nearest) {
        EXPECT_NE(remark.find(unknown + " "), std::string::npos) << remark;
        EXPECT_NE(remark.find("did you mean " + nearest + "?"), std::string::npos) << remark;
    };
    expect(remarks[0], "KUMIKI_WIAT", "KUMIKI_WAIT");
    expect(remarks[1], "KUMIKI_THREAD", "KUMIKI_THREADS");
    expect(remarks[2], "KUMIKI_NONTEMPORAL_BYTES", "KUMIKI_NONTEMPORAL");
    EXPECT_TRUE(read_settings(environment.get())) << "an unknown variable is a remark, not an error";
}

TEST(SettingsTest, TheTableIsSound) {
    std::set<std::string_view> names, options;
    for (const Setting& setting : settings_table()) {
        EXPECT_TRUE(setting.name.starts_with("KUMIKI_")) << setting.name;
        EXPECT_TRUE(names.insert(setting.name).second) << setting.name << " twice";
        EXPECT_TRUE(setting.option.empty() || options.insert(setting.option).second) << setting.option << " twice";
        EXPECT_TRUE(setting.help.ends_with(".")) << setting.name << ": the help is a sentence";
        Settings settings;
        EXPECT_TRUE(setting.assign(settings, setting.fallback).has_value())
            << setting.name << ": its own default must be good";
    }
}

TEST(SettingsTest, TheDocumentHasEverySettingOnce) {
    const std::string document = settings_as_markdown();
    for (const Setting& setting : settings_table()) {
        const std::string row = "| `" + std::string(setting.name) + "` |";
        const auto at = document.find(row);
        ASSERT_NE(at, std::string::npos) << setting.name;
        EXPECT_EQ(document.find(row, at + 1), std::string::npos) << setting.name << " twice";
        const std::string line = document.substr(at, document.find('\n', at) - at);
        EXPECT_NE(line.find(setting.help), std::string::npos) << line;
        if (setting.internal) continue;
        EXPECT_NE(line.find(setting.unit), std::string::npos) << line;
        EXPECT_NE(line.find(setting.option), std::string::npos) << line;
        EXPECT_NE(line.find(setting.fallback), std::string::npos) << line;
    }
}

} // namespace
} // namespace kumiki
