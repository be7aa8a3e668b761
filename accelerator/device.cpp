#include "accelerator/device.hpp"

namespace kumiki::accelerator {

void Stream::factor(const Place&, const Extent&, const Place&, std::span<int>) {
    throw DeviceError("this device does not factor matrices");
}

void Stream::copy_rows(const Place& from, const Place& to, std::size_t columns, std::span<const RowCopy> rows) {
    const auto row_of = [](const Place& place, std::size_t row) {
        return Place{place.memory, place.offset + row * place.lead, place.lead};
    };
    for (std::size_t first = 0, next; first < rows.size(); first = next) {
        const auto& [source, target] = rows[first];
        for (next = first + 1; next < rows.size(); ++next)
            if (rows[next].from != source + (next - first) || rows[next].to != target + (next - first)) break;
        copy(row_of(from, source), {next - first, columns}, row_of(to, target));
    }
}

} // namespace kumiki::accelerator
