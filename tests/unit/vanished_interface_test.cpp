// An interface that is switched off between the moment when UCX finds it and the moment when a worker opens it, in a
// network of the test's own.
#include <cerrno>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/ucx/common.hpp"
#include "support/processes.hpp"

namespace kumiki::fabric::ucx {
namespace {

using namespace std::chrono_literals;

void switch_loopback(bool on) {
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    ASSERT_EQ(ioctl(socket, SIOCGIFFLAGS, &request), 0);
    if (on) request.ifr_flags |= IFF_UP;
    else request.ifr_flags = static_cast<short>(request.ifr_flags & ~IFF_UP);
    ASSERT_EQ(ioctl(socket, SIOCSIFFLAGS, &request), 0);
    ::close(socket);
}

/// Gives the process a network of its own, as root or in a user namespace.
bool leave_network() { return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0; }

TEST(VanishedInterfaceTest, IsNamedWithARemedy) {
    tests::Processes processes;
    processes.start([] { EXPECT_TRUE(leave_network()) << std::strerror(errno); });
    if (const auto ending = processes.ended_within(0, 10s); !ending || ending->code != 0)
        GTEST_SKIP() << "the system does not let this user make a network of its own";
    processes.start([] {
        ASSERT_TRUE(leave_network());
        switch_loopback(true);
        auto config = read_settings();
        ASSERT_TRUE(config);
        ASSERT_TRUE(set(config->get(), "TLS", "tcp"));
        ASSERT_TRUE(set(config->get(), "NET_DEVICES", "lo"));
        const auto context = make_context(config->get(), UCP_FEATURE_AM | UCP_FEATURE_WAKEUP, "start");
        ASSERT_TRUE(context) << context.error().message;
        switch_loopback(false);
        const auto worker = make_worker(context->get());
        ASSERT_FALSE(worker);
        EXPECT_EQ(worker.error().message,
                  "the network interface lo does not exist, is switched off or has no link, so this rank cannot reach "
                  "other hosts: see `ip link`, mend it, or name another one (KUMIKI_INTERFACE)");
    });
    tests::expect_good_ends(processes);
}

} // namespace
} // namespace kumiki::fabric::ucx
