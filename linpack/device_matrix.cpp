#include "linpack/device_matrix.hpp"

#include <algorithm>

#include "linpack/lead.hpp"

namespace kumiki::linpack {

DeviceMatrix::DeviceMatrix(accelerator::Device& device, std::size_t rows, std::size_t columns, std::size_t slab_columns)
    : rows_(rows), slab_columns_(slab_columns) {
    for (std::size_t begin = 0; begin < columns; begin += slab_columns) {
        const std::size_t width = std::min(slab_columns, columns - begin), lead = lead_for(width);
        slabs_.push_back({device.allocate(rows * lead), width, lead});
    }
}

accelerator::Place DeviceMatrix::at(std::size_t row, std::size_t column) const {
    const Slab& slab = slabs_[slab_of(column)];
    return {slab.memory.get(), row * slab.lead + column % slab_columns_, slab.lead};
}

void DeviceMatrix::load(const LocalMatrix& from, accelerator::Stream& stream) const {
    if (rows_ == 0) return;
    for (std::size_t slab = 0; slab < slabs_.size(); ++slab)
        stream.copy_in(from.at(0, slab * slab_columns_), from.lead(), {rows_, slabs_[slab].columns},
                       at(0, slab * slab_columns_));
    stream.record()->wait();
}

std::size_t columns_of_device_slab(std::size_t rows, std::size_t columns, std::size_t block,
                                   std::size_t largest_bytes) {
    constexpr std::size_t slabs = 6, least = 1024;
    const std::size_t wanted = std::max(least, (columns + slabs - 1) / slabs);
    const std::size_t most = largest_bytes / sizeof(double) / std::max<std::size_t>(rows, 1);
    const std::size_t margin = 2 * kernels::line_bytes / sizeof(double); // of lead_for()
    const std::size_t width = std::min(wanted, most > margin ? most - margin : 0);
    return std::max<std::size_t>(width / block, 1) * block;
}

double resident_bytes(std::size_t rows, std::size_t columns, std::size_t block) {
    const auto r = static_cast<double>(rows), c = static_cast<double>(columns), b = static_cast<double>(block);
    return sizeof(double) * (1.02 * r * c + 3 * b * (r + b) + 7 * b * c);
}

} // namespace kumiki::linpack
