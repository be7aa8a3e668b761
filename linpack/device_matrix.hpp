#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "accelerator/device.hpp"
#include "linpack/local_matrix.hpp"

namespace kumiki::linpack {

/// A rank's part of the matrix on a device, by rows, in slabs of columns: a device limits what is allocated at once.
class DeviceMatrix {
public:
    /// Throws accelerator::DeviceError where the device has too little memory.
    DeviceMatrix(accelerator::Device& device, std::size_t rows, std::size_t columns, std::size_t slab_columns);

    std::size_t slabs() const { return slabs_.size(); }
    std::size_t slab_of(std::size_t column) const { return column / slab_columns_; }
    accelerator::Place at(std::size_t row, std::size_t column) const;
    /// Brings the matrix of the host to the device.
    void load(const LocalMatrix& from, accelerator::Stream& stream) const;

private:
    struct Slab {
        std::unique_ptr<accelerator::Memory> memory;
        std::size_t columns, lead;
    };

    std::size_t rows_, slab_columns_;
    std::vector<Slab> slabs_;
};

/// The columns of a slab for a device that allocates `largest_bytes` at once, for a part of `rows` x `columns`: a
/// multiple of `block`, and so few that while the rows of one slab change places others are multiplied.
std::size_t columns_of_device_slab(std::size_t rows, std::size_t columns, std::size_t block, std::size_t largest_bytes);

/// What the resident form allocates at most on the device of a rank with a part of `rows` x `columns`, in bytes.
double resident_bytes(std::size_t rows, std::size_t columns, std::size_t block);

} // namespace kumiki::linpack
