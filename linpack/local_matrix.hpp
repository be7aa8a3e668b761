#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <new>
#include <stdexcept>

#include "kernels/common/aligned.hpp"
#include "linpack/lead.hpp"

namespace kumiki::linpack {

/// A rank's part of the matrix, by rows, so that to swap rows is to copy pieces of memory. The elements are not set, so
/// that each page comes to lie near the thread that first writes to it.
class LocalMatrix {
public:
    LocalMatrix(std::size_t rows, std::size_t columns)
        : rows_(rows), columns_(columns), lead_(lead_for(columns)), data_(allocated()) {}
    LocalMatrix(const LocalMatrix&) = delete;
    LocalMatrix& operator=(const LocalMatrix&) = delete;
    ~LocalMatrix() { allocator_.deallocate(data_, size()); }

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    /// Elements from row to row.
    std::size_t lead() const { return lead_; }
    double* at(std::size_t row, std::size_t column) const { return data_ + row * lead_ + column; }

private:
    std::size_t size() const { return rows_ * lead_; }

    double* allocated() {
        constexpr std::size_t most = std::size_t{1} << 60; // in bytes still a number of 64 bits
        try {
            if (size() < most) return allocator_.allocate(size());
        } catch (const std::bad_alloc&) {}
        throw std::runtime_error(fmt::format("a rank's part of the matrix, {} x {}, needs {:.1f} GiB, which this host "
                                             "does not have; choose a smaller -N, or more ranks on more hosts",
                                             rows_, columns_, static_cast<double>(size()) * sizeof(double) / 0x1p30));
    }

    std::size_t rows_, columns_, lead_;
    [[no_unique_address]] kernels::AlignedAllocator<double> allocator_;
    double* data_;
};

} // namespace kumiki::linpack
