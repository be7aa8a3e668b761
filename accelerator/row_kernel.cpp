#include "accelerator/row_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kumiki::accelerator {

namespace {

/// Numbers of rows travel with the order itself, whose parameters may have 4 KiB, so that they need no memory.
constexpr std::size_t most_rows = 480;
struct Rows {
    unsigned from[most_rows], to[most_rows];
};

/// The source for both vendors: CUDA and HIP know the same words.
static_assert(most_rows == 480);
constexpr const char* source = R"(
struct Rows {
    unsigned from[480], to[480];
};
extern "C" __global__ void copy_rows(const double* from, unsigned long long from_lead, double* to,
                                     unsigned long long to_lead, unsigned long long columns, Rows rows) {
    const double* const source = from + rows.from[blockIdx.y] * from_lead;
    double* const target = to + rows.to[blockIdx.y] * to_lead;
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < columns; i += gridDim.x * blockDim.x)
        target[i] = source[i];
}
)";

constexpr unsigned threads = 256;
constexpr std::size_t columns_per_thread = 8;

} // namespace

RowKernel::RowKernel(const vendor::Table& table) : table_(table) {
    vendor::Table::Program program = nullptr;
    check(table.create_program(&program, source, "copy_rows.cu", 0, nullptr, nullptr), "to make the kernel for rows");
    int status = table.compile(program, 0, nullptr);
    std::size_t size = 0;
    if (status == 0) status = table.code_size(program, &size);
    std::vector<char> code(size);
    if (status == 0) status = table.code(program, code.data());
    table.destroy_program(&program);
    check(status, "to compile the kernel for rows");
    vendor::Table::Module module = nullptr;
    check(table.load(&module, code.data()), "to load the kernel for rows");
    check(table.find_kernel(&kernel_, module, "copy_rows"), "to find the kernel for rows");
}

void RowKernel::copy(vendor::Table::Stream stream, const double* from, std::size_t from_lead, double* to,
                     std::size_t to_lead, std::size_t columns, std::span<const RowCopy> rows) const {
    const std::size_t width = std::max<std::size_t>((columns + threads - 1) / threads / columns_per_thread, 1);
    unsigned long long arguments[] = {from_lead, to_lead, columns};
    while (!rows.empty() && columns != 0) {
        const std::span<const RowCopy> now = rows.first(std::min(rows.size(), most_rows));
        Rows numbers;
        for (std::size_t i = 0; i < now.size(); ++i) {
            numbers.from[i] = static_cast<unsigned>(now[i].from);
            numbers.to[i] = static_cast<unsigned>(now[i].to);
        }
        void* parameters[] = {&from, &arguments[0], &to, &arguments[1], &arguments[2], &numbers};
        check(table_.launch(kernel_, static_cast<unsigned>(width), static_cast<unsigned>(now.size()), 1, threads, 1, 1,
                            0, stream, parameters, nullptr),
              "to start the kernel for rows");
        rows = rows.subspan(now.size());
    }
}

void RowKernel::check(int status, const char* what) const {
    if (status != 0) throw DeviceError(fmt::format("{}: {} failed (error {})", table_.name, what, status));
}

} // namespace kumiki::accelerator
