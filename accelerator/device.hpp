#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kumiki::accelerator {

/// Something that a device or its library refuses, as one sentence.
class DeviceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Properties {
    std::string name;
    std::size_t memory_bytes = 0;
    std::size_t largest_bytes = 0; ///< of one allocation
    std::size_t free_bytes = 0;    ///< of the memory, for allocations; all of it where the device does not tell
};

/// Memory of the device; it is given back at the end, which must not come before the work on it is done.
class Memory {
public:
    virtual ~Memory() = default;
};

/// A matrix of doubles in memory of the device, by rows.
struct Place {
    Memory* memory;
    std::size_t offset; ///< elements before the first one
    std::size_t lead;   ///< elements from row to row
};

struct Extent {
    std::size_t rows, columns;
};

/// C = alpha A B + beta C, with A rows x depth, B depth x columns, C rows x columns. No element of C is read where beta
/// is 0.
struct Product {
    std::size_t rows, columns, depth;
    double alpha;
    Place a, b;
    double beta;
    Place c;
};

/// A row that is copied, as numbers of rows of two places.
struct RowCopy {
    std::size_t from, to;
};

/// A point in the work of a stream.
class Event {
public:
    virtual ~Event() = default;
    /// Waits until the work before it is done. Throws DeviceError when some of it failed.
    virtual void wait() = 0;
};

/// Work for the device that is done in order, while the caller goes on. Calls return before the work is done; memory of
/// the caller that they name belongs to the device until an event that was recorded later has been waited for. One
/// thread at a time calls a stream. What fails later is thrown by Event::wait(); what cannot be begun, at once.
class Stream {
public:
    virtual ~Stream() = default;
    /// Between the memory of the caller (by rows, `lead` elements from row to row) and that of the device.
    virtual void copy_in(const double* from, std::size_t lead, const Extent& extent, const Place& to) = 0;
    virtual void copy_out(const Place& from, const Extent& extent, double* to, std::size_t lead) = 0;
    /// Within the device, between places that do not overlap. A row is an extent of one row.
    virtual void copy(const Place& from, const Extent& extent, const Place& to) = 0;
    /// Within the device: rows of `columns` elements, of which none is read and written. By default each run of
    /// neighbours is a copy() of its own.
    virtual void copy_rows(const Place& from, const Place& to, std::size_t columns, std::span<const RowCopy> rows);
    virtual void multiply(const Product& product) = 0;
    /// P A = L U with row partial pivoting, as LAPACK's dgetrf: `factors` gets L without its ones, and U. Of `result`,
    /// as many numbers as the matrix has columns say, counted from 1, with which row each row changed places, one after
    /// another; the one behind them is the first column whose pivot is 0, or 0. The matrix has no more columns than
    /// rows; it may be where the factors are, and does not overlap them otherwise. Only where Device::factors().
    virtual void factor(const Place& matrix, const Extent& extent, const Place& factors, std::span<int> result);
    virtual std::shared_ptr<Event> record() = 0;
    /// Work that follows waits for an event of any stream of the same device.
    virtual void wait_for(const std::shared_ptr<Event>& event) = 0;
};

/// An accelerator. It may be called by several threads at the same time, and outlives its streams and memory.
class Device {
public:
    virtual ~Device() = default;
    virtual Properties properties() const = 0;
    /// Room for so many doubles, not set. Throws DeviceError when there is too little.
    virtual std::unique_ptr<Memory> allocate(std::size_t elements) = 0;
    virtual std::unique_ptr<Stream> stream() = 0;
    /// One whose work is done before that of other streams, where the device can tell them apart.
    virtual std::unique_ptr<Stream> urgent_stream() { return stream(); }
    /// Tells the device of memory of the caller that will be copied often, so that copies need no detour (page locks).
    /// This is advice.
    virtual void pin(void*, std::size_t /*bytes*/) {}
    /// Throws nothing, also when the device has failed.
    virtual void unpin(void*) {}
    /// Whether Stream::factor() works.
    virtual bool factors() const { return false; }
    /// What of its libraries is absent, and what is slower for that, as sentences.
    virtual std::vector<std::string> absences() const { return {}; }
    /// A sentence about what the reader of a result must know; empty: nothing.
    virtual std::string remark() const { return {}; }
};

} // namespace kumiki::accelerator
