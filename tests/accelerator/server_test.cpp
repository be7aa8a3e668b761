// The server of a device and its clients: in one process, so that the sanitizers see both, and in several, which are
// killed.
#include <chrono>
#include <csignal>
#include <ctime>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>

#include "accelerator/client.hpp"
#include "kernels/common/blas_library.hpp"
#include "support/build.hpp"
#include "support/processes.hpp"
#include "support/watchdog.hpp"
#include "tests/accelerator/matrices.hpp"
#include "tests/accelerator/serving.hpp"

namespace kumiki::accelerator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t rows = 64, depth = 32, columns = 24, parts = 3;
constexpr Room room{rows * depth, depth * columns * parts, depth * columns, rows * columns};

/// Sends products of parts of `a` and of several `b`, several at a time, and compares their sum, element by element.
void expect_right_products(Client& client, std::uint64_t seed) {
    for (std::uint64_t version = 1; version <= 4; ++version) {
        const Matrix a(rows, depth, seed + version), b(depth * parts, columns, seed + 100 + version);
        std::copy(a.elements.begin(), a.elements.end(), client.left());
        std::copy(b.elements.begin(), b.elements.end(), client.right());
        std::vector<Request> requests;
        for (std::size_t part = 0; part < parts; ++part)
            for (std::size_t first = 0; first < rows; first += 24)
                requests.push_back({version, rows, first, part * depth * columns,
                                    std::min<std::size_t>(24, rows - first), columns, depth});
        std::size_t compared = 0;
        const auto compare = [&] {
            const Request& request = requests[compared++];
            const double* const result = client.take();
            Matrix left(request.rows, depth, 0), right(depth, columns, 0), actual(request.rows, columns, 0);
            std::copy_n(&a.elements[request.first_row * depth], request.rows * depth, left.elements.begin());
            std::copy_n(&b.elements[request.right], depth * columns, right.elements.begin());
            std::copy_n(result, request.rows * columns, actual.elements.begin());
            expect_near(actual, textbook(1, left, right, 0, actual), depth);
        };
        for (const Request& request : requests) {
            if (!client.has_place()) compare();
            client.send(request);
        }
        while (client.under_way() != 0) compare();
    }
}

TEST(Server, ComputesForSeveralClientsAtOnce) {
    const tests::Watchdog watchdog("a server with three clients");
    kernels::set_blas_threads(1);
    Serving serving("emulated:rate=1,bus=1");
    std::vector<std::thread> clients;
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        clients.emplace_back([&, seed] {
            Client client(serving.address, room);
            expect_right_products(client, 1000 * seed);
        });
    for (std::thread& client : clients) client.join();
}

TEST(Server, ComputesWithOpenCl) {
    if (tests::sanitized) GTEST_SKIP() << "drivers of OpenCL are not built with sanitizers";
    try {
        open_device("opencl");
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
    Serving serving("opencl");
    Client client(serving.address, room);
    expect_right_products(client, 7);
}

TEST(Server, ServesClientsOneAfterAnother) {
    const tests::Watchdog watchdog("clients one after another");
    Serving serving("emulated:memory=0.001");
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Client client(serving.address, room);
        expect_right_products(client, seed);
    }
}

TEST(Server, ServesOthersWhileAClientIsMute) {
    const tests::Watchdog watchdog("a client that says nothing");
    Serving serving("emulated:rate=1000");
    const File mute = connect_to(serving.address), other = connect_to(serving.address);
    Client client(serving.address, room);
    expect_right_products(client, 3);
}

std::string failure_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const DeviceError& error) {
        return error.what();
    }
    return "";
}

TEST(Server, PassesOnWhatTheDeviceSays) {
    const tests::Watchdog watchdog("a failing device");
    Serving none("toaster");
    EXPECT_NE(failure_of([&] { const Client client(none.address, room); }).find("no such kind of device"),
              std::string::npos);
    Serving small("emulated:memory=0.00001");
    EXPECT_NE(failure_of([&] { const Client client(small.address, room); }).find("memory=..."), std::string::npos);
    Serving failing("emulated:fails=20");
    EXPECT_NE(failure_of([&] {
                  Client client(failing.address, room);
                  expect_right_products(client, 1);
              }).find("this operation fails"),
              std::string::npos);
    failing.end();
    EXPECT_NE(failure_of([&] { const Client late(failing.address, room); }).find("cannot be reached"),
              std::string::npos);
}

TEST(Server, RefusesProductsOutsideTheRoom) {
    const tests::Watchdog watchdog("products outside the room");
    const Request good{1, rows, 0, 0, rows, columns, depth};
    const auto with = [&](auto change) {
        Request request = good;
        change(request);
        return request;
    };
    for (const Request& bad :
         {with([](Request& r) { r.rows = rows + 1; }), with([](Request& r) { r.first_row = 1; }),
          with([](Request& r) { r.left_rows = rows + 1; }), with([](Request& r) { r.columns = columns + 1; }),
          with([](Request& r) { r.right = depth * columns * (parts - 1) + 1; }),
          with([](Request& r) { r.depth = std::uint64_t{1} << 62; }),
          with([](Request& r) { r.right = ~std::uint64_t{0}; })}) {
        Serving serving("emulated");
        Client client(serving.address, room);
        client.send(bad);
        EXPECT_NE(failure_of([&] { client.take(); }).find("not in its room"), std::string::npos);
    }
}

double processor_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; // of all threads of the process
}

TEST(Server, AsksForAnOpenFileAtTimesOnly) {
    if (tests::sanitized) GTEST_SKIP() << "sanitizers open files to look at memory";
    const tests::Watchdog watchdog("a server with too few open files");
    Lifeline line;
    Listening listening = listen_here();
    const File client = connect_to(listening.address);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few{3, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    const double start = processor_seconds();
    std::thread serving(
        [&] { Server(std::move(listening.socket), [] { return open_device("emulated"); }).serve(line.here); });
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_LT(processor_seconds() - start, 0.1);
    setrlimit(RLIMIT_NOFILE, &before);
    line.other = File();
    serving.join();
}

/// A device whose process has too little memory for what it is asked to do.
struct PoorDevice : Device {
    struct PoorStream : Stream {
        void copy_in(const double*, std::size_t, const Extent&, const Place&) override { throw std::bad_alloc(); }
        void copy_out(const Place&, const Extent&, double*, std::size_t) override {}
        void copy(const Place&, const Extent&, const Place&) override {}
        void multiply(const Product&) override {}
        std::shared_ptr<Event> record() override { return nullptr; }
        void wait_for(const std::shared_ptr<Event>&) override {}
    };
    Properties properties() const override { return {}; }
    std::unique_ptr<Memory> allocate(std::size_t elements) override {
        if (elements > rows * columns * 100) throw std::bad_alloc();
        return nullptr;
    }
    std::unique_ptr<Stream> stream() override { return std::make_unique<PoorStream>(); }
};

TEST(Server, PassesOnThatMemoryIsLacking) {
    const tests::Watchdog watchdog("a server without memory");
    Serving serving([] { return std::make_unique<PoorDevice>(); });
    const std::string lacking = std::bad_alloc().what();
    constexpr Room large{rows * columns * 200, depth * columns * parts, depth * columns, rows * columns};
    EXPECT_EQ(failure_of([&] { const Client client(serving.address, large); }), lacking);
    Client client(serving.address, room);
    client.send({1, rows, 0, 0, rows, columns, depth});
    EXPECT_EQ(failure_of([&] { client.take(); }), lacking);
}

/// Clients that are killed while their products are under way leave a server that serves the others.
TEST(Server, ForgetsClientsThatAreKilled) {
    const tests::Watchdog watchdog("killed clients");
    kernels::set_blas_threads(1);
    // Room for two sessions, so that those that are over must have been ended.
    Serving serving("emulated:rate=0.01,memory=0.0003");
    tests::Processes processes;
    for (int killed = 0; killed < 4; ++killed) {
        processes.start([&] {
            Client client(serving.address, room);
            for (;;) {
                while (client.has_place()) client.send({1, rows, 0, 0, rows, columns, depth});
                client.take();
            }
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        processes.kill(killed, SIGKILL);
        const auto ended = processes.ended_within(killed, std::chrono::seconds(10));
        ASSERT_TRUE(ended.has_value());
        EXPECT_EQ(ended->signal, SIGKILL);
    }
    Client client(serving.address, room);
    client.send({1, rows, 0, 0, rows, columns, depth});
    EXPECT_EQ(failure_of([&] { client.take(); }), "");
}

TEST(Server, IsMissedWhenItIsKilled) {
    if (tests::sanitized)
        GTEST_SKIP() << "ThreadSanitizer does not bear threads of a process that was forked by one with threads";
    const tests::Watchdog watchdog("a killed server");
    Listening listening = listen_here();
    Lifeline line;
    tests::Processes processes;
    processes.start([&] {
        Server(std::move(listening.socket), [] { return open_device("emulated:rate=0.0001"); }).serve(line.here);
    });
    listening.socket = File();
    Client client(listening.address, room);
    client.send({1, rows, 0, 0, rows, columns, depth}); // takes a second
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    processes.kill(0, SIGKILL);
    const auto start = Clock::now();
    EXPECT_NE(failure_of([&] { client.take(); }).find("was it killed?"), std::string::npos);
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
}

/// Products of a client follow each other without a gap: operands and results travel meanwhile.
TEST(Server, KeepsTheDeviceBusy) {
    if (tests::sanitized) GTEST_SKIP() << "products are slow in this build";
    const tests::Watchdog watchdog("the rate of a server");
    kernels::set_blas_threads(1);
    constexpr std::size_t n = 384;
    constexpr int products = 20;
    Serving serving("emulated:rate=4,bus=0.2"); // a product takes 28 ms, a copy 6 ms
    Client client(serving.address, {n * n, n * n, n * n, n * n});
    double best = 0;
    for (int attempt = 0; attempt < 6 && best < 0.95; ++attempt) {
        const auto start = Clock::now();
        for (int i = 0; i < products; ++i) {
            if (!client.has_place()) client.take();
            client.send({1, n, 0, 0, n, n, n});
        }
        while (client.under_way() != 0) client.take();
        const std::chrono::duration<double> taken = Clock::now() - start;
        best = std::max(best, products * 2.0 * n * n * n / 4e9 / taken.count());
    }
    EXPECT_GE(best, 0.95);
    EXPECT_LE(best, 1.001);
    RecordProperty("share_of_set_rate", std::to_string(best));
}

} // namespace
} // namespace kumiki::accelerator
