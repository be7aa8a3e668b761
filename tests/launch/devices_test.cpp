#include "launch/command/devices.hpp"

#include <gtest/gtest.h>
#include <map>

namespace kumiki::launch {
namespace {

using topology::Accelerator;

const char* nothing_set(const char*) { return nullptr; }

Accelerator device(int number, std::string vendor, std::string uuid = "") {
    Accelerator made;
    made.number = number;
    made.vendor = std::move(vendor);
    made.uuid = std::move(uuid);
    return made;
}

std::vector<Accelerator> four() {
    return {device(0, "nvidia"), device(1, "nvidia"), device(2, "nvidia"), device(3, "nvidia")};
}

RankRequest divided(int rank, const std::string& text) {
    RankRequest request{.rank = rank, .threads = 1, .cores = {}, .devices = devices_from(text).value()};
    request.devices.divided = true;
    return request;
}

RankRequest own(int rank, const std::string& text) {
    return {.rank = rank, .threads = 1, .cores = {}, .devices = devices_from(text).value()};
}

Result<Placement> given(const std::vector<RankRequest>& ranks, const std::vector<Accelerator>& devices,
                        Lookup lookup = nothing_set) {
    Placement placement;
    placement.ranks.resize(ranks.size());
    return give_devices(placement, ranks, devices, lookup).map([&] { return placement; });
}

/// "0,1|2": the devices of each rank.
std::string dealt(const std::vector<RankRequest>& ranks, const std::vector<Accelerator>& devices,
                  Lookup lookup = nothing_set) {
    const auto placement = given(ranks, devices, lookup);
    if (!placement) return placement.error().message;
    std::string text;
    for (const RankPlace& rank : placement->ranks) {
        if (&rank != &placement->ranks.front()) text += '|';
        for (const int number : rank.devices)
            text += (text.empty() || text.back() == '|' ? "" : ",") + std::to_string(number);
    }
    return text;
}

std::map<std::string, std::string> variables(const RankPlace& rank) {
    return {rank.variables.begin(), rank.variables.end()};
}

TEST(Devices, AreDividedInBlocksAndSharedWhenThereAreTooFew) {
    EXPECT_EQ(dealt({divided(0, "all")}, four()), "0,1,2,3");
    EXPECT_EQ(dealt({divided(0, "all"), divided(1, "all")}, four()), "0,1|2,3");
    EXPECT_EQ(dealt({divided(0, "all"), divided(1, "all"), divided(2, "all")}, four()), "0|1|2,3");
    EXPECT_EQ(dealt({divided(0, "1,3"), divided(1, "1,3"), divided(2, "1,3"), divided(3, "1,3")}, four()), "1|1|3|3");
    EXPECT_EQ(dealt({divided(0, "none"), divided(1, "none")}, four()), "|");
    EXPECT_EQ(dealt({divided(0, "all"), divided(1, "all")}, {}), "|") << "there are none";
}

TEST(Devices, WhatARankHasForItselfIsNotDivided) {
    EXPECT_EQ(dealt({divided(0, "all"), own(1, "0,2"), divided(2, "all")}, four()), "1|0,2|3");
    EXPECT_EQ(dealt({own(0, "1"), own(1, "1"), own(2, "none")}, four()), "1|1|") << "ranks may share one";
    EXPECT_EQ(dealt({{}, own(1, "all")}, four()), "|0,1,2,3");
}

TEST(Devices, AreShownByTheVariablesOfTheirVendors) {
    const std::vector<Accelerator> mixed = {device(0, "nvidia", "GPU-12ab"), device(1, "amd", "77"), device(2, "amd"),
                                            device(3, "intel"), device(4, "")};
    const auto placement = given({own(0, "2,0"), own(1, "1-3"), own(2, "none"), {}}, mixed);
    ASSERT_TRUE(placement);
    using Map = std::map<std::string, std::string>;
    EXPECT_EQ(variables(placement->ranks[0]), (Map{{"CUDA_VISIBLE_DEVICES", "GPU-12ab"},
                                                   {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                   {"ROCR_VISIBLE_DEVICES", "1"},
                                                   {"HIP_VISIBLE_DEVICES", "0"}}));
    EXPECT_EQ(variables(placement->ranks[1]), (Map{{"CUDA_VISIBLE_DEVICES", ""},
                                                   {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                   {"ROCR_VISIBLE_DEVICES", "0,1"},
                                                   {"HIP_VISIBLE_DEVICES", "0,1"},
                                                   {"ZE_AFFINITY_MASK", "0"}}));
    EXPECT_EQ(variables(placement->ranks[2]), (Map{{"CUDA_VISIBLE_DEVICES", ""},
                                                   {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                                   {"ROCR_VISIBLE_DEVICES", ""},
                                                   {"HIP_VISIBLE_DEVICES", ""}}));
    EXPECT_TRUE(placement->ranks[3].variables.empty()) << "nothing is asked: nothing is changed";
}

TEST(Devices, KeepTheOrderInWhichTheyAreNamed) {
    const auto placement = given({own(0, "3,1")}, four());
    EXPECT_EQ(placement->ranks[0].devices, (std::vector{3, 1}));
    EXPECT_EQ(variables(placement->ranks[0])["CUDA_VISIBLE_DEVICES"], "3,1");
}

TEST(Devices, ABatchSystemsChoiceLimitsThem) {
    const Lookup by_index = [](const char* name) -> const char* {
        return std::string_view(name) == "CUDA_VISIBLE_DEVICES" ? "3,1" : nullptr;
    };
    EXPECT_EQ(dealt({divided(0, "all"), divided(1, "all")}, four(), by_index), "1|3");
    EXPECT_EQ(dealt({own(0, "0")}, four(), by_index), "rank 0: there is no device 0 that this job may use; it may use "
                                                      "devices 1,3 (`kumiki topology` shows them)");
    const std::vector<Accelerator> named = {device(0, "nvidia", "GPU-aa11"), device(1, "nvidia", "GPU-bb22")};
    const Lookup by_uuid = [](const char*) -> const char* { return "GPU-bb"; };
    EXPECT_EQ(dealt({divided(0, "all")}, named, by_uuid), "1");
    EXPECT_EQ(variables(given({divided(0, "all")}, named, by_uuid)->ranks[0])["CUDA_VISIBLE_DEVICES"], "GPU-bb");
    const Lookup none = [](const char*) -> const char* { return ""; };
    EXPECT_EQ(dealt({divided(0, "all")}, named, none), "");
}

TEST(Devices, ThatDoNotExistAreNamed) {
    EXPECT_EQ(dealt({own(0, "1"), own(1, "2,7")}, four()), "rank 1: there is no device 7 that this job may use; it may "
                                                           "use devices 0-3 (`kumiki topology` shows them)");
    EXPECT_EQ(dealt({divided(5, "0")}, {}),
              "rank 5: there is no device 0 that this job may use; there is none here (`kumiki topology` shows them)");
    EXPECT_FALSE(devices_from(""));
    EXPECT_FALSE(devices_from("gpu0"));
    EXPECT_FALSE(devices_from("0,0"));
    EXPECT_TRUE(devices_from("all")->all);
}

} // namespace
} // namespace kumiki::launch
