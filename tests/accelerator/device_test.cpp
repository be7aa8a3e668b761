// What every kind of device does alike.
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

#include "accelerator/client.hpp"
#include "accelerator/open.hpp"
#include "support/build.hpp"
#include "tests/accelerator/matrices.hpp"
#include "tests/accelerator/serving.hpp"

namespace kumiki::accelerator {
namespace {

/// The vendor whose libraries a library of the tests stands in for; empty: none.
std::string stand_in() {
    const char* const name = std::getenv("TEST_STAND_IN");
    return name != nullptr ? name : "";
}

class AnyDevice : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (tests::sanitized && std::string(GetParam()) == "opencl")
            GTEST_SKIP() << "drivers of OpenCL are not built with sanitizers";
        try {
            device_ = open_device(GetParam());
        } catch (const DeviceError& error) {
            // A driver may be absent; what is part of Kumiki or of its tests is not.
            const std::string kind = GetParam();
            if (kind.starts_with("emulated") || kind == stand_in()) FAIL() << error.what();
            GTEST_SKIP() << error.what();
        }
    }
    std::unique_ptr<Device> device_;
};

TEST_P(AnyDevice, TellsWhatItIs) {
    const Properties properties = device_->properties();
    EXPECT_FALSE(properties.name.empty());
    EXPECT_GT(properties.largest_bytes, 0u);
    EXPECT_LE(properties.largest_bytes, properties.memory_bytes);
}

TEST_P(AnyDevice, RefusesMoreMemoryThanItHas) {
    EXPECT_THROW(device_->allocate(device_->properties().largest_bytes / sizeof(double) + 1), DeviceError);
    EXPECT_THROW(device_->allocate(std::size_t(-1)), DeviceError);
}

TEST_P(AnyDevice, CopiesPartsOfMatrices) {
    const Matrix source(7, 9, 1);
    Matrix result(11, 13, 2);
    const Matrix before = result;
    const auto memory = device_->allocate(1000);
    const auto stream = device_->stream();
    // Rows 2 to 4, columns 3 to 7 go to distances of 20, then of 30 elements, and back to row 5, column 6.
    stream->copy_in(&source.elements[2 * 9 + 3], 9, {3, 5}, {memory.get(), 17, 20});
    stream->copy({memory.get(), 17, 20}, {3, 5}, {memory.get(), 500, 30});
    stream->copy_out({memory.get(), 500, 30}, {3, 5}, &result.at(5, 6), 13);
    stream->record()->wait();
    for (std::size_t row = 0; row < 11; ++row)
        for (std::size_t column = 0; column < 13; ++column) {
            const bool inside = row >= 5 && row < 8 && column >= 6 && column < 11;
            EXPECT_EQ(result.at(row, column), inside ? source.at(row - 3, column - 3) : before.at(row, column))
                << row << ' ' << column;
        }
}

struct Sizes {
    std::size_t rows, columns, depth;
};

/// Operands lie at offsets, with distances of their own from row to row.
void expect_right_product(Device& device, const Sizes& sizes, double alpha, double beta) {
    const auto& [rows, columns, depth] = sizes;
    const Matrix a(rows, depth, 3), b(depth, columns, 4);
    Matrix c(rows, columns, 5);
    const Matrix expected = textbook(alpha, a, b, beta, c);
    const std::size_t a_lead = depth + 3, b_lead = columns + 5, c_lead = columns + 1;
    const auto a_memory = device.allocate(rows * a_lead + 64), b_memory = device.allocate(depth * b_lead + 64),
               c_memory = device.allocate(rows * c_lead + 64);
    const Place at_a{a_memory.get(), 11, a_lead}, at_b{b_memory.get(), 32, b_lead}, at_c{c_memory.get(), 5, c_lead};
    const auto stream = device.stream();
    stream->copy_in(a.elements.data(), depth, a.extent(), at_a);
    stream->copy_in(b.elements.data(), columns, b.extent(), at_b);
    if (beta != 0) stream->copy_in(c.elements.data(), columns, c.extent(), at_c);
    stream->multiply({rows, columns, depth, alpha, at_a, at_b, beta, at_c});
    stream->copy_out(at_c, c.extent(), c.elements.data(), columns);
    stream->record()->wait();
    expect_near(c, expected, static_cast<double>(depth));
}

TEST_P(AnyDevice, MultipliesPartsOfMatrices) {
    expect_right_product(*device_, {67, 93, 131}, -1, 1);
    expect_right_product(*device_, {1, 1, 1}, 2, 0.5);
    expect_right_product(*device_, {200, 3, 64}, -1, 0);
    expect_right_product(*device_, {128, 256, 192}, 1, 0);
}

TEST_P(AnyDevice, KeepsOrderAmongStreamsByEvents) {
    const std::size_t n = 96;
    const Matrix a(n, n, 6), b(n, n, 7);
    const auto memory = device_->allocate(4 * n * n);
    const auto place = [&](std::size_t number) { return Place{memory.get(), number * n * n, n}; };
    const auto first = device_->stream(), second = device_->stream();
    Matrix expected = a, actual(n, n, 8);
    for (int round = 0; round < 10; ++round) expected = textbook(0.1, expected, b, 0, expected);
    first->copy_in(a.elements.data(), n, a.extent(), place(0));
    first->copy_in(b.elements.data(), n, b.extent(), place(1));
    std::size_t from = 0;
    for (int round = 0; round < 10; ++round) {
        Stream& working = round % 2 == 0 ? *first : *second;
        Stream& next = round % 2 == 0 ? *second : *first;
        const std::size_t to = from == 0 ? 2 : 0;
        working.multiply({n, n, n, 0.1, place(from), place(1), 0, place(to)});
        next.wait_for(working.record());
        from = to;
    }
    first->copy_out(place(from), actual.extent(), actual.elements.data(), n);
    first->record()->wait();
    expect_near(actual, expected, static_cast<double>(n));
}

INSTANTIATE_TEST_SUITE_P(Kinds, AnyDevice, testing::Values("emulated:rate=1000", "opencl", "cuda", "hip"),
                         [](const auto& kind) {
                             return std::string(kind.param).substr(0, std::string(kind.param).find(':'));
                         });

void expect_refusal(const char* description, const char* part) {
    try {
        open_device(description);
        FAIL() << description;
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(StandIn, ServesClients) {
    if (stand_in().empty()) GTEST_SKIP() << "no library stands in for that of a vendor";
    const Serving serving(stand_in());
    Client client(serving.address, {64 * 32, 32 * 48, 32 * 48, 64 * 48});
    const Matrix a(64, 32, 1), b(32, 48, 2);
    Matrix result(64, 48, 3);
    const Matrix expected = textbook(1, a, b, 0, result);
    std::copy(a.elements.begin(), a.elements.end(), client.left());
    std::copy(b.elements.begin(), b.elements.end(), client.right());
    for (int round = 0; round < 20; ++round) {
        while (client.has_place()) client.send({1, 64, 0, 0, 64, 48, 32});
        std::copy_n(client.take(), result.elements.size(), result.elements.begin());
        expect_near(result, expected, 32);
    }
    expect_refusal((stand_in() + ":7").c_str(), "has 1 device here");
}

TEST(OpenDevice, NamesWhatIsWrong) {
    expect_refusal("toaster", "no such kind of device");
    expect_refusal("opencl:x", "is not the number of a device");
    expect_refusal("emulated:rate=", "rate= is not a number of 0 or more");
    expect_refusal("emulated:rate=0", "neither a rate in GFLOP/s above 0");
    expect_refusal("emulated:rate=64:5/32:7", "ascending");
    expect_refusal("emulated:bus=-1", "bus=-1 is not a number of 0 or more");
    expect_refusal("emulated:processor=0.5", "processor=0.5 is not a whole number");
    expect_refusal("emulated:speed=1", "there is no setting 'speed'");
}

} // namespace
} // namespace kumiki::accelerator
