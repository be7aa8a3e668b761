#include "accelerator/vendor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <utility>

#include "accelerator/row_kernel.hpp"
#include "accelerator/vendor_table.hpp"

namespace kumiki::accelerator {

namespace {

using vendor::Table;

/// A device of a vendor; what streams, memory and events use, which may outlive the Device.
struct Access {
    Table table;
    int index = 0;
    bool has_solver = false;
    std::unique_ptr<RowKernel> row_kernel = {}; ///< null: rows are copied one by one
    std::vector<std::string> absences = {};     ///< of the device

    void check(int status, const char* what) const {
        if (status != 0)
            throw DeviceError(
                fmt::format("{}: {} failed: {} (error {})", table.name, what, table.error_text(status), status));
    }
    /// Each thread says for itself which device it means.
    const Table& selected() const {
        check(table.set_device(index), "to select the device");
        return table;
    }
};
using SharedAccess = std::shared_ptr<const Access>;

class VendorMemory : public Memory {
public:
    VendorMemory(SharedAccess access, std::size_t elements) : access_(std::move(access)), elements_(elements) {
        access_->check(
            access_->selected().allocate(&address_, elements * sizeof(double)),
            fmt::format("to allocate {:.3g} GiB", static_cast<double>(elements) * sizeof(double) / 0x1p30).c_str());
    }
    ~VendorMemory() override { access_->table.release(address_); }
    double* data() const { return static_cast<double*>(address_); }
    std::size_t elements() const { return elements_; }

private:
    SharedAccess access_;
    std::size_t elements_;
    void* address_ = nullptr;
};

double* at(const Place& place) { return static_cast<VendorMemory*>(place.memory)->data() + place.offset; }

class VendorEvent : public Event {
public:
    explicit VendorEvent(SharedAccess access) : access_(std::move(access)) {
        access_->check(access_->selected().create_event(&event_, Table::event_without_time), "to make an event");
    }
    ~VendorEvent() override { access_->table.destroy_event(event_); }
    void wait() override { access_->check(access_->selected().wait_for_event(event_), "an operation before an event"); }
    Table::Event get() const { return event_; }

private:
    SharedAccess access_;
    Table::Event event_ = nullptr;
};

/// A handle of the vendor's BLAS, bound to a stream.
class BlasHandle {
public:
    explicit BlasHandle(SharedAccess access) : access_(std::move(access)) {
        check_blas(access_->selected().create_handle(&handle_), "to begin");
    }
    ~BlasHandle() { access_->table.destroy_handle(handle_); }
    BlasHandle(const BlasHandle&) = delete;
    BlasHandle& operator=(const BlasHandle&) = delete;
    Table::Handle get() const { return handle_; }
    /// Its errors have numbers of their own.
    void check_blas(int status, const char* what) const {
        if (status != 0)
            throw DeviceError(
                fmt::format("{}: the BLAS library failed {} (error {})", access_->table.name, what, status));
    }

private:
    SharedAccess access_;
    Table::Handle handle_ = nullptr;
};

int length_of(std::size_t value) {
    if (value > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw DeviceError("a product with more than 2^31 rows or columns does not fit the BLAS library of a device");
    return static_cast<int>(value);
}

/// Factors matrices with the vendor's solver, which takes them by columns: a matrix by rows is transposed into memory
/// of its own, and back.
class PanelSolver {
public:
    PanelSolver(SharedAccess access, Table::Stream stream, const BlasHandle& blas)
        : access_(std::move(access)), stream_(stream), blas_(blas) {
        check(access_->selected().create_solver(&handle_), "to begin");
        check(access_->table.set_solver_stream(handle_, stream_), "to use a stream");
    }
    ~PanelSolver() { access_->table.destroy_solver(handle_); }
    PanelSolver(const PanelSolver&) = delete;
    PanelSolver& operator=(const PanelSolver&) = delete;

    void factor(const Place& matrix, const Extent& extent, const Place& factors, std::span<int> result) {
        const int rows = length_of(extent.rows), columns = length_of(extent.columns);
        reserve(by_columns_, extent.rows * extent.columns);
        reserve(numbers_, (result.size() * sizeof(int) + sizeof(double) - 1) / sizeof(double));
        int room = 0;
        check(access_->selected().getrf_room(handle_, rows, columns, by_columns_->data(), rows, &room), "to prepare");
        reserve(work_, static_cast<std::size_t>(room));
        int* const numbers = reinterpret_cast<int*>(numbers_->data());
        transpose(at(matrix), length_of(matrix.lead), rows, columns, by_columns_->data(), rows);
        check(access_->table.getrf(handle_, rows, columns, by_columns_->data(), rows, work_->data(), numbers,
                                   numbers + columns),
              "to factor a panel");
        transpose(by_columns_->data(), rows, columns, rows, at(factors), length_of(factors.lead));
        access_->check(access_->table.copy(result.data(), result.size_bytes(), numbers, result.size_bytes(),
                                           result.size_bytes(), 1, Table::to_host, stream_),
                       "a copy from the device");
    }

private:
    void check(int status, const char* what) const {
        if (status != 0)
            throw DeviceError(
                fmt::format("{}: the solver library failed {} (error {})", access_->table.name, what, status));
    }
    /// Memory that was in use is freed only when the stream is done with it.
    void reserve(std::unique_ptr<VendorMemory>& memory, std::size_t elements) {
        if (memory && memory->elements() >= elements) return;
        access_->check(access_->selected().finish_stream(stream_), "before more memory is taken");
        memory.reset();
        memory = std::make_unique<VendorMemory>(access_, std::max<std::size_t>(elements, 1));
    }
    /// To `rows` x `columns`, by columns, from the transpose of that.
    void transpose(const double* from, int from_lead, int rows, int columns, double* to, int to_lead) const {
        constexpr double one = 1, nothing = 0;
        blas_.check_blas(access_->table.add(blas_.get(), access_->table.transposed, access_->table.not_transposed, rows,
                                            columns, &one, from, from_lead, &nothing, to, to_lead, to, to_lead),
                         "at a transposition");
    }

    SharedAccess access_;
    Table::Stream stream_;
    const BlasHandle& blas_;
    Table::Handle handle_ = nullptr;
    std::unique_ptr<VendorMemory> by_columns_, work_, numbers_;
};

class VendorStream : public Stream {
public:
    VendorStream(SharedAccess access, bool urgent) : access_(std::move(access)), handle_(access_) {
        int least = 0, greatest = 0;
        access_->check(access_->selected().priorities(&least, &greatest), "to ask for priorities");
        access_->check(access_->table.create_stream(&stream_, Table::independent_stream, urgent ? greatest : least),
                       "to make a stream");
        handle_.check_blas(access_->table.set_stream(handle_.get(), stream_), "to use a stream");
    }
    /// Memory that the stream still uses may be freed afterwards.
    ~VendorStream() override {
        access_->table.finish_stream(stream_);
        solver_.reset();
        access_->table.destroy_stream(stream_);
    }

    void copy_in(const double* from, std::size_t lead, const Extent& extent, const Place& to) override {
        copy(at(to), to.lead, from, lead, extent, Table::to_device, "a copy to the device");
    }
    void copy_out(const Place& from, const Extent& extent, double* to, std::size_t lead) override {
        copy(to, lead, at(from), from.lead, extent, Table::to_host, "a copy from the device");
    }
    void copy(const Place& from, const Extent& extent, const Place& to) override {
        copy(at(to), to.lead, at(from), from.lead, extent, Table::within_device, "a copy within the device");
    }
    void copy_rows(const Place& from, const Place& to, std::size_t columns, std::span<const RowCopy> rows) override {
        if (!access_->row_kernel) return Stream::copy_rows(from, to, columns, rows);
        access_->selected();
        access_->row_kernel->copy(stream_, at(from), from.lead, at(to), to.lead, columns, rows);
    }
    void multiply(const Product& product) override {
        if (product.rows == 0 || product.columns == 0) return;
        // By columns each matrix is its own transpose by rows, and (A B)' = B' A'.
        const int plain = access_->table.not_transposed;
        handle_.check_blas(access_->selected().dgemm(handle_.get(), plain, plain, length_of(product.columns),
                                                     length_of(product.rows), length_of(product.depth), &product.alpha,
                                                     at(product.b), length_of(product.b.lead), at(product.a),
                                                     length_of(product.a.lead), &product.beta, at(product.c),
                                                     length_of(product.c.lead)),
                           "at a product");
    }
    void factor(const Place& matrix, const Extent& extent, const Place& factors, std::span<int> result) override {
        if (!solver_) solver_ = std::make_unique<PanelSolver>(access_, stream_, handle_);
        solver_->factor(matrix, extent, factors, result);
    }
    std::shared_ptr<Event> record() override {
        auto event = std::make_shared<VendorEvent>(access_);
        access_->check(access_->table.record_event(event->get(), stream_), "to record an event");
        return event;
    }
    void wait_for(const std::shared_ptr<Event>& event) override {
        access_->check(access_->selected().stream_waits(stream_, static_cast<VendorEvent&>(*event).get(), 0),
                       "to wait for an event");
    }

private:
    void copy(double* to, std::size_t to_lead, const double* from, std::size_t from_lead, const Extent& extent,
              int kind, const char* what) {
        if (extent.rows == 0 || extent.columns == 0) return;
        constexpr std::size_t size = sizeof(double);
        access_->check(access_->selected().copy(to, to_lead * size, from, from_lead * size, extent.columns * size,
                                                extent.rows, kind, stream_),
                       what);
    }

    SharedAccess access_;
    BlasHandle handle_;
    Table::Stream stream_ = nullptr;
    std::unique_ptr<PanelSolver> solver_; ///< when it has been used
};

class VendorDevice : public Device {
public:
    explicit VendorDevice(SharedAccess access) : access_(std::move(access)) {}

    Properties properties() const override {
        std::size_t free = 0, all = 0;
        access_->check(access_->selected().memory_info(&free, &all), "to ask for its memory");
        std::array<char, 64> bus{};
        access_->check(access_->table.bus_name(bus.data(), static_cast<int>(bus.size()), access_->index),
                       "to ask for its place");
        // The libraries take some for each stream, of which those of the resident form are the most: cuBLAS 32 MiB.
        constexpr std::size_t of_libraries = std::size_t{256} << 20;
        return {fmt::format("{} device {} ({})", access_->table.name, access_->index, bus.data()), all, all,
                free - std::min(free, of_libraries)};
    }
    std::unique_ptr<Memory> allocate(std::size_t elements) override {
        if (elements > properties().memory_bytes / sizeof(double))
            throw DeviceError(fmt::format("{}: {:.3g} GiB were asked for, more than the device has", properties().name,
                                          static_cast<double>(elements) * sizeof(double) / 0x1p30));
        return std::make_unique<VendorMemory>(access_, elements == 0 ? 1 : elements);
    }
    std::unique_ptr<Stream> stream() override { return std::make_unique<VendorStream>(access_, false); }
    std::unique_ptr<Stream> urgent_stream() override { return std::make_unique<VendorStream>(access_, true); }
    // Without page locks copies are slower, but right.
    void pin(void* memory, std::size_t bytes) override {
        const int status = access_->selected().pin(memory, bytes, 0);
        const std::lock_guard lock(mutex_);
        if (status == 0 || bytes <= not_locked_) return;
        not_locked_ = bytes;
        why_not_locked_ = access_->table.error_text(status);
    }
    // After some errors each call fails, and there is nothing left to give back.
    void unpin(void* memory) override {
        access_->table.set_device(access_->index);
        access_->table.unpin(memory);
    }
    bool factors() const override { return access_->has_solver; }
    std::vector<std::string> absences() const override { return access_->absences; }
    std::string remark() const override {
        const std::lock_guard lock(mutex_);
        if (why_not_locked_.empty()) return {};
        return fmt::format(
            "{:.3g} GiB of memory could not be locked for {} ({}): copies to the device and from it are slow",
            static_cast<double>(not_locked_) / 0x1p30, access_->table.name, why_not_locked_);
    }

private:
    SharedAccess access_;
    mutable std::mutex mutex_;
    std::size_t not_locked_ = 0; ///< bytes of the largest memory that could not be locked
    std::string why_not_locked_;
};

std::unique_ptr<Device> open_vendor(Table table, std::size_t index) {
    const auto access = std::make_shared<Access>(Access{std::move(table), static_cast<int>(index)});
    int count = 0;
    const int status = access->table.count_devices(&count);
    if (status == Table::no_driver || status == Table::no_device || (status == 0 && count == 0))
        throw DeviceError(
            fmt::format("{0} is installed here, but it finds no device: {1} (error {2}); install the driver "
                        "of the device, or choose another device",
                        access->table.name, access->table.error_text(status), status));
    access->check(status, "to look for devices");
    if (index >= static_cast<std::size_t>(count))
        throw DeviceError(fmt::format("{} has {} device{} here, numbered from 0; there is no number {}",
                                      access->table.name, count, count == 1 ? "" : "s", index));
    access->table.open_blas(access->table);
    const auto offer = [&](const char* without, const auto& open) {
        try {
            open();
        } catch (const DeviceError& error) {
            access->absences.push_back(fmt::format("{}: {}", error.what(), without));
        }
    };
    offer("panels are factored by the processors", [&] {
        access->table.open_solver(access->table);
        access->has_solver = true;
    });
    offer("rows change places one by one, which takes longer than the products of a step", [&] {
        access->table.open_compiler(access->table);
        // The driver's functions need a device that the runtime has begun to use.
        VendorStream(access, false).record()->wait();
        access->row_kernel = std::make_unique<RowKernel>(access->table);
    });
    return std::make_unique<VendorDevice>(access);
}

} // namespace

std::unique_ptr<Device> open_cuda(std::size_t index) { return open_vendor(Table::cuda(), index); }
std::unique_ptr<Device> open_hip(std::size_t index) { return open_vendor(Table::hip(), index); }

} // namespace kumiki::accelerator
