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

/// Whether it also stands in for that vendor's solver and compiler.
bool stand_in_is_whole() {
    const char* const whole = std::getenv("TEST_STAND_IN_IS_WHOLE");
    return whole != nullptr && std::string(whole) == "1";
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
    EXPECT_LE(properties.free_bytes, properties.memory_bytes);
}

TEST_P(AnyDevice, TellsHowMuchOfItsMemoryIsFree) {
    const std::string kind = GetParam();
    if (!kind.starts_with("emulated") && kind != stand_in()) GTEST_SKIP() << "others may use it, or it does not tell";
    constexpr std::size_t elements = 1000000;
    const std::size_t before = device_->properties().free_bytes;
    const auto memory = device_->allocate(elements);
    EXPECT_LE(device_->properties().free_bytes + elements * sizeof(double), before);
}

TEST_P(AnyDevice, TellsWhatIsAbsent) {
    const std::vector<std::string> absences = device_->absences();
    if (GetParam() != stand_in()) GTEST_SKIP() << "no library of the tests";
    EXPECT_EQ(device_->factors(), stand_in_is_whole());
    ASSERT_EQ(absences.size(), stand_in_is_whole() ? 0u : 2u);
    if (stand_in_is_whole()) return;
    EXPECT_NE(absences[0].find("SOLVER is not installed here"), std::string::npos) << absences[0];
    EXPECT_NE(absences[0].find("panels are factored by the processors"), std::string::npos) << absences[0];
    EXPECT_NE(absences[1].find("rows change places one by one"), std::string::npos) << absences[1];
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

/// Rows and runs of rows, near each other and apart, as the rows of a small matrix that change places.
TEST_P(AnyDevice, CopiesWithinAMatrix) {
    constexpr std::size_t rows = 12, lead = 24, column = 3, columns = 8;
    const auto memory = device_->allocate(rows * lead);
    const auto stream = device_->stream();
    const auto place = [&](std::size_t row) { return Place{memory.get(), row * lead + column, lead}; };
    for (const std::size_t run : {1u, 2u, 5u})
        for (std::size_t from = 0; from + run <= rows; ++from)
            for (std::size_t to = 0; to + run <= rows; ++to) {
                if (from < to + run && to < from + run) continue;
                const Matrix before(rows, lead, 12);
                Matrix expected = before, result = before;
                for (std::size_t i = 0; i < run; ++i)
                    std::copy_n(&before.elements[(from + i) * lead + column], columns, &expected.at(to + i, column));
                stream->copy_in(before.elements.data(), lead, before.extent(), {memory.get(), 0, lead});
                stream->copy(place(from), {run, columns}, place(to));
                stream->copy_out({memory.get(), 0, lead}, before.extent(), result.elements.data(), lead);
                stream->record()->wait();
                EXPECT_EQ(result.elements, expected.elements) << run << " rows from " << from << " to " << to;
            }
}

TEST_P(AnyDevice, CopiesScatteredRows) {
    // More rows than one kernel takes, some of them neighbours.
    constexpr std::size_t rows = 1500, columns = 33, lead = 40;
    const Matrix source(rows, columns, 10);
    Matrix result(rows, columns, 11);
    const auto memory = device_->allocate(2 * rows * lead);
    const Place from{memory.get(), 3, lead}, to{memory.get(), rows * lead, lead};
    const auto stream = device_->stream();
    stream->copy_in(source.elements.data(), columns, source.extent(), from);
    stream->copy_in(result.elements.data(), columns, result.extent(), to);
    Matrix expected = result;
    std::vector<RowCopy> copies;
    for (std::size_t i = 0; i < 1100; ++i) {
        const std::size_t row = i < 20 ? i : i * 7919 % rows, other = rows - 1 - i;
        copies.push_back({row, other});
        for (std::size_t j = 0; j + 1 < columns; ++j) expected.at(other, j) = source.at(row, j);
    }
    stream->copy_rows(from, to, columns - 1, copies);
    copies.clear();
    stream->copy_rows(from, to, columns - 1, copies);
    stream->copy_out(to, result.extent(), result.elements.data(), columns);
    stream->record()->wait();
    EXPECT_EQ(result.elements, expected.elements);
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

/// L and U in the place of the matrix, by rows, multiplied out, and the exchanges undone.
Matrix undone(const Matrix& factors, std::span<const int> exchanges) {
    Matrix result = factors;
    for (std::size_t i = factors.rows; i-- > 0;)
        for (std::size_t j = factors.columns; j-- > 0;) {
            double sum = i <= j ? factors.at(i, j) : 0;
            for (std::size_t k = 0; k < std::min(i, j + 1); ++k) sum += factors.at(i, k) * factors.at(k, j);
            result.at(i, j) = sum;
        }
    for (std::size_t i = factors.columns; i-- > 0;)
        for (std::size_t j = 0; j < factors.columns; ++j)
            std::swap(result.at(i, j), result.at(static_cast<std::size_t>(exchanges[i] - 1), j));
    return result;
}

TEST_P(AnyDevice, FactorsPartsOfMatrices) {
    if (!device_->factors()) GTEST_SKIP() << "its libraries have no LU factorisation";
    const auto stream = device_->stream();
    // The second is larger, so that the memory of the first does not do.
    for (const auto& [rows, columns] : {Extent{40, 17}, Extent{150, 32}, Extent{32, 32}, Extent{1, 1}}) {
        const Matrix a(rows, columns, 9);
        Matrix factors = a;
        const std::size_t lead = columns + 3;
        const auto memory = device_->allocate(rows * lead + 64);
        const Place place{memory.get(), 7, lead};
        std::vector<int> result(columns + 1, -1);
        stream->copy_in(a.elements.data(), columns, a.extent(), place);
        const bool in_place = rows == columns;
        const auto other = device_->allocate(rows * columns);
        const Place factored = in_place ? place : Place{other.get(), 0, columns};
        stream->factor(place, a.extent(), factored, result);
        stream->copy_out(factored, a.extent(), factors.elements.data(), columns);
        stream->record()->wait();
        EXPECT_EQ(result[columns], 0);
        expect_near(undone(factors, result), a, static_cast<double>(columns));
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < std::min(i, columns); ++j) ASSERT_LE(std::abs(factors.at(i, j)), 1.0);
    }
}

TEST_P(AnyDevice, TellsWhichPivotIsZero) {
    if (!device_->factors()) GTEST_SKIP() << "its libraries have no LU factorisation";
    const auto stream = device_->stream();
    const auto memory = device_->allocate(12);
    const double singular[] = {1, 2, 3, 2, 4, 6, 0, 0, 1, 0, 0, 0}; // the second column is twice the first
    int result[4] = {};
    stream->copy_in(singular, 3, {4, 3}, {memory.get(), 0, 3});
    stream->factor({memory.get(), 0, 3}, {4, 3}, {memory.get(), 0, 3}, result);
    stream->record()->wait();
    EXPECT_EQ(result[3], 2);
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
    expect_refusal("emulated:processor=1000000", "there is no processor 1000000 here");
    expect_refusal("emulated:speed=1", "there is no setting 'speed'");
}

} // namespace
} // namespace kumiki::accelerator
