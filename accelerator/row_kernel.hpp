#pragma once

#include <cstddef>
#include <span>

#include "accelerator/device.hpp"
#include "accelerator/vendor_table.hpp"

namespace kumiki::accelerator {

/// Copies scattered rows by a kernel of our own, compiled while the program runs: neither a vendor's runtime nor its
/// BLAS can do it at once, and a copy for each row takes some 17 us to order (docs/decisions/resident-form.md).
class RowKernel {
public:
    /// For the selected device of a table whose compiler is open. Throws DeviceError when the kernel cannot be made.
    explicit RowKernel(const vendor::Table& table);

    /// Rows of `columns` doubles, from and to memory with `lead` doubles from row to row, of which none is read and
    /// written. The work is ordered in the stream; `rows` may be forgotten at once.
    void copy(vendor::Table::Stream stream, const double* from, std::size_t from_lead, double* to, std::size_t to_lead,
              std::size_t columns, std::span<const RowCopy> rows) const;

private:
    void check(int status, const char* what) const;

    const vendor::Table& table_;
    vendor::Table::Kernel kernel_ = nullptr; ///< it stays to the end of the process, as the libraries do
};

} // namespace kumiki::accelerator
