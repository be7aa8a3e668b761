#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "platform/interfaces.hpp"

namespace kumiki::platform {
namespace {

using Ways = std::map<std::string, std::string>; ///< target, own address

std::string towards(const std::vector<std::string>& hosts, const std::vector<Interface>& own, const Ways& ways) {
    return interface_towards(hosts, own, [&](const std::string& target) {
        const auto found = ways.find(target);
        return found == ways.end() ? std::string() : found->second;
    });
}

const std::vector<Interface> own = {{"docker0", "172.17.0.1"}, {"mgmt", "10.0.0.1"}, {"ib0", "192.168.0.1"}};
const std::string other = "172.17.0.1 10.0.0.2 192.168.0.2", third = "172.17.0.1 10.0.0.3 192.168.0.3";

TEST(InterfacesTest, TheOneWhoseWayLeadsToAllHosts) {
    const Ways all = {{"172.17.0.1", "172.17.0.1"},
                      {"10.0.0.2", "10.0.0.1"},
                      {"192.168.0.2", "192.168.0.1"},
                      {"10.0.0.3", "10.0.0.1"},
                      {"192.168.0.3", "192.168.0.1"}};
    EXPECT_EQ(towards({other, third}, own, all), "mgmt") << "docker0 has the same address everywhere";
    Ways some = all;
    some.erase("10.0.0.3");
    EXPECT_EQ(towards({other, third}, own, some), "ib0") << "by mgmt the third host is not reached";
    some.erase("192.168.0.2");
    EXPECT_EQ(towards({other, third}, own, some), "") << "no interface reaches both";
}

TEST(InterfacesTest, HostsThatAreThisOneNeedNone) {
    EXPECT_EQ(towards({"172.17.0.1 10.0.0.1 192.168.0.1"}, own, {{"10.0.0.1", "10.0.0.1"}}), "");
    EXPECT_EQ(towards({""}, own, {}), "");
    EXPECT_EQ(devices_towards({}), "");
}

TEST(InterfacesTest, TheSystemKnowsTheWayToItself) {
    EXPECT_EQ(source_towards("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(source_towards("no address"), "");
    for (const auto& each : interfaces()) {
        EXPECT_NE(each.name, "lo");
        EXPECT_EQ(source_towards(each.address), each.address);
    }
}

} // namespace
} // namespace kumiki::platform
