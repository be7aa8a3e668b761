#include "accelerator/opencl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "accelerator/opencl_table.hpp"

namespace kumiki::accelerator {

namespace {

using namespace opencl;

void check(Status status, const char* what) {
    if (status != success) throw DeviceError(fmt::format("OpenCL: {} failed with error {}", what, status));
}

/// An object of OpenCL, released at the end.
template <class Object>
class Owned {
public:
    using Release = Status (*)(Object);
    Owned(Object object, Release release) : object_(object), release_(release) {}
    Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
    Owned& operator=(Owned&&) = delete;
    ~Owned() {
        if (object_ != nullptr) release_(object_);
    }
    Object get() const { return object_; }

private:
    Object object_;
    Release release_;
};

/// What streams, memory and events of a device use; they may outlive it.
struct Access {
    Functions functions;
    Products products;
    DeviceId device = nullptr;
    Context context = nullptr;

    ~Access() {
        if (context != nullptr) functions.release_context(context);
    }
    template <class Value>
    Value info(Count what) const {
        Value value{};
        check(functions.get_device_info(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo");
        return value;
    }
    std::string name() const {
        std::size_t length = 0;
        check(functions.get_device_info(device, name_of_device, 0, nullptr, &length), "clGetDeviceInfo");
        std::string name(length, '\0');
        check(functions.get_device_info(device, name_of_device, length, name.data(), nullptr), "clGetDeviceInfo");
        return name.substr(0, name.find('\0'));
    }
};
using SharedAccess = std::shared_ptr<const Access>;

class OpenclMemory : public Memory {
public:
    OpenclMemory(SharedAccess access, Buffer buffer)
        : access_(std::move(access)), buffer_(buffer, access_->functions.release_buffer) {}
    Buffer buffer() const { return buffer_.get(); }

private:
    SharedAccess access_;
    Owned<Buffer> buffer_;
};

Buffer buffer_of(const Place& place) { return static_cast<OpenclMemory*>(place.memory)->buffer(); }

class OpenclEvent : public Event {
public:
    OpenclEvent(SharedAccess access, EventId event)
        : access_(std::move(access)), event_(event, access_->functions.release_event) {}
    EventId get() const { return event_.get(); }

    void wait() override {
        const EventId event = event_.get();
        check(access_->functions.wait_for_events(1, &event), "an operation before an event");
        Status status = 0;
        check(access_->functions.get_event_info(event, event_status, sizeof status, &status, nullptr),
              "clGetEventInfo");
        if (status < 0) check(status, "an operation");
    }

private:
    SharedAccess access_;
    Owned<EventId> event_;
};

class OpenclStream : public Stream {
public:
    OpenclStream(SharedAccess access, Queue queue)
        : access_(std::move(access)), queue_(queue, functions().release_queue) {}
    /// Memory that the queue still uses may be freed afterwards.
    ~OpenclStream() override { functions().finish(queue_.get()); }

    void copy_in(const double* from, std::size_t lead, const Extent& extent, const Place& to) override {
        const std::size_t region[3] = {bytes(extent.columns), extent.rows, 1};
        if (is_empty(extent)) return;
        check(functions().write_rectangle(queue_.get(), buffer_of(to), 0, Start(to).at, here, region, bytes(to.lead), 0,
                                          bytes(lead), 0, from, 0, nullptr, nullptr),
              "a copy to the device");
        flush();
    }
    void copy_out(const Place& from, const Extent& extent, double* to, std::size_t lead) override {
        const std::size_t region[3] = {bytes(extent.columns), extent.rows, 1};
        if (is_empty(extent)) return;
        check(functions().read_rectangle(queue_.get(), buffer_of(from), 0, Start(from).at, here, region,
                                         bytes(from.lead), 0, bytes(lead), 0, to, 0, nullptr, nullptr),
              "a copy from the device");
        flush();
    }
    void copy(const Place& from, const Extent& extent, const Place& to) override {
        if (is_empty(extent)) return;
        // OpenCL does not copy between different distances from row to row within one buffer.
        const bool at_once = buffer_of(from) != buffer_of(to) || from.lead == to.lead;
        const std::size_t rows = at_once ? extent.rows : 1, of_one_row = std::max(from.lead, to.lead);
        for (std::size_t row = 0; row < extent.rows; row += rows) {
            const std::size_t region[3] = {bytes(extent.columns), rows, 1};
            const Place source{from.memory, from.offset + row * from.lead, at_once ? from.lead : of_one_row};
            const Place target{to.memory, to.offset + row * to.lead, at_once ? to.lead : of_one_row};
            check(functions().copy_rectangle(queue_.get(), buffer_of(from), buffer_of(to), Start(source).at,
                                             Start(target).at, region, bytes(source.lead), 0, bytes(target.lead), 0, 0,
                                             nullptr, nullptr),
                  "a copy within the device");
        }
        flush();
    }
    void multiply(const Product& product) override {
        if (product.rows == 0 || product.columns == 0) return;
        Queue queue = queue_.get();
        const auto& [rows, columns, depth, alpha, a, b, beta, c] = product;
        const int status =
            access_->products.dgemm(Products::by_rows, Products::not_transposed, Products::not_transposed, rows,
                                    columns, depth, alpha, buffer_of(a), a.offset, a.lead, buffer_of(b), b.offset,
                                    b.lead, beta, buffer_of(c), c.offset, c.lead, &queue, nullptr);
        if (status != success) throw DeviceError(fmt::format("CLBlast: DGEMM failed with error {}", status));
        flush();
    }
    std::shared_ptr<Event> record() override {
        EventId event = nullptr;
        check(functions().mark(queue_.get(), 0, nullptr, &event), "an event");
        auto owned = std::make_shared<OpenclEvent>(access_, event);
        flush();
        return owned;
    }
    void wait_for(const std::shared_ptr<Event>& event) override {
        const EventId before = static_cast<OpenclEvent&>(*event).get();
        check(functions().barrier(queue_.get(), 1, &before, nullptr), "to wait for an event");
    }

private:
    /// Where a place begins, in bytes of a row, and rows: OpenCL compares these to find out whether two rectangles of a
    /// buffer overlap, and believes that they do where all of an offset is told as bytes of the first row.
    struct Start {
        explicit Start(const Place& place) : at{bytes(place.offset % place.lead), place.offset / place.lead, 0} {}
        std::size_t at[3];
    };
    static constexpr std::size_t here[3] = {0, 0, 0}; ///< where memory of the caller begins

    static std::size_t bytes(std::size_t elements) { return elements * sizeof(double); }
    static bool is_empty(const Extent& extent) { return extent.rows == 0 || extent.columns == 0; }
    const Functions& functions() const { return access_->functions; }
    /// Without it a queue may keep what it was given until somebody waits.
    void flush() { check(functions().flush(queue_.get()), "clFlush"); }

    SharedAccess access_;
    Owned<Queue> queue_;
};

class Opencl : public Device {
public:
    explicit Opencl(SharedAccess access) : access_(std::move(access)) {}

    Properties properties() const override {
        // CLBlast's kernels count the elements of a buffer in 32 bits with a sign.
        constexpr Bits most = (Bits{1} << 31) * sizeof(double) - sizeof(double);
        const Bits memory = access_->info<Bits>(memory_size);
        return {access_->name(), memory, std::min(access_->info<Bits>(largest_allocation), most), memory};
    }
    std::unique_ptr<Memory> allocate(std::size_t elements) override {
        if (elements > properties().largest_bytes / sizeof(double))
            throw DeviceError(fmt::format("OpenCL: {} allocates no more than {:.3g} GiB at once, not {:.3g}",
                                          properties().name, static_cast<double>(properties().largest_bytes) / 0x1p30,
                                          static_cast<double>(elements) * sizeof(double) / 0x1p30));
        Status status = success;
        const Buffer buffer = access_->functions.create_buffer(
            access_->context, read_and_write, std::max<std::size_t>(elements, 1) * sizeof(double), nullptr, &status);
        check(status, "to allocate memory of the device");
        return std::make_unique<OpenclMemory>(access_, buffer);
    }
    std::unique_ptr<Stream> stream() override {
        Status status = success;
        const Queue queue = access_->functions.create_queue(access_->context, access_->device, 0, &status);
        check(status, "to make a queue");
        return std::make_unique<OpenclStream>(access_, queue);
    }

private:
    SharedAccess access_;
};

/// The devices of all platforms, in the order in which these report them.
std::vector<DeviceId> devices(const Functions& functions) {
    Count count = 0;
    if (const Status status = functions.get_platforms(0, nullptr, &count); status != no_platform)
        check(status, "clGetPlatformIDs");
    std::vector<Platform> platforms(count);
    if (count != 0) check(functions.get_platforms(count, platforms.data(), nullptr), "clGetPlatformIDs");
    std::vector<DeviceId> all;
    for (const Platform platform : platforms) {
        Count found = 0;
        const Status status = functions.get_devices(platform, all_types, 0, nullptr, &found);
        if (status == device_not_found || found == 0) continue;
        check(status, "clGetDeviceIDs");
        std::vector<DeviceId> here(found);
        check(functions.get_devices(platform, all_types, found, here.data(), nullptr), "clGetDeviceIDs");
        all.insert(all.end(), here.begin(), here.end());
    }
    return all;
}

} // namespace

std::unique_ptr<Device> open_opencl(std::size_t index) {
    const auto access = std::make_shared<Access>();
    const std::vector<DeviceId> all = devices(access->functions);
    if (index >= all.size())
        throw DeviceError(
            fmt::format("OpenCL has {} device{} here, numbered from 0; there is no number {}{}", all.size(),
                        all.size() == 1 ? "" : "s", index,
                        all.empty() ? ": install the driver of a device, or PoCL for the processors" : ""));
    access->device = all[index];
    if (access->info<Bits>(double_precision) == 0)
        throw DeviceError(fmt::format("OpenCL: {} cannot compute in double precision", access->name()));
    Status status = success;
    access->context = access->functions.create_context(nullptr, 1, &access->device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    return std::make_unique<Opencl>(access);
}

} // namespace kumiki::accelerator
