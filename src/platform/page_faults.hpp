#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "error/result.hpp"

namespace kumiki::platform {

/// The beginning of addresses that neither programs nor libraries nor the kernel use by themselves, the same in every
/// process.
std::byte* unused_addresses();

/// Addresses at which memory that this process has mapped already is mapped once more. Children that the process forks
/// do not have them.
class SecondMapping {
public:
    /// Takes the addresses; every access to them is a fault until map(). Fails when some of them are in use.
    static Result<SecondMapping> reserve(std::byte* at, std::size_t bytes, bool may_be_executed = false);
    /// Takes addresses at which this process has memory already, which map() replaces.
    static SecondMapping over(std::byte* at, std::size_t bytes) { return {at, bytes, false}; }
    /// Maps a part of a file, readable and writable, and executable if that was wanted, `offset` bytes from the
    /// beginning of the addresses.
    Result<> map(std::size_t offset, std::size_t bytes, int descriptor, std::size_t file_offset);

    SecondMapping(SecondMapping&& other) noexcept;
    SecondMapping& operator=(SecondMapping&& other) noexcept;
    ~SecondMapping();

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool may_be_executed() const { return may_be_executed_; }

private:
    SecondMapping(std::byte* data, std::size_t size, bool may_be_executed)
        : data_(data), size_(size), may_be_executed_(may_be_executed) {}
    std::byte* data_;
    std::size_t size_;
    bool may_be_executed_;
};

/// What this process may do with a page without a fault.
enum class PageAccess : std::uint8_t { none, read, write };

/// Decides page by page what the threads of this process may do with memory that is mapped twice: with its second
/// mapping, whose addresses the program uses. The library uses the first mapping, where nothing faults. Faults arrive
/// as signals in the thread that made them (fault_signals.hpp).
///
/// Offsets are bytes from the beginning of the second mapping, and they and lengths are multiples of page_size(). All
/// functions may be called by several threads at a time and from signal handlers, for pages that differ.
class PageFaults {
public:
    virtual ~PageFaults() = default;

    /// From now on accesses to these pages that have not been allowed are faults. The pages begin with
    /// PageAccess::none.
    virtual Result<> guard(std::size_t offset, std::size_t bytes) = 0;
    /// The same for pages that begin with PageAccess::write and never change to none.
    virtual Result<> watch(std::size_t offset, std::size_t bytes) = 0;
    /// The same for pages that the program may have accessed already; what it has accessed may stay allowed until it
    /// changes.
    virtual Result<> follow(std::size_t offset, std::size_t bytes) = 0;
    /// Changes what is allowed from `from`, which must be true of all these pages, to `to`. A thread that is already
    /// past the change of a page, because another one made it, may repeat it. The system itself may take pages away at
    /// any time; they then fault, and must be changed from none to what they were.
    virtual Result<> change(std::size_t offset, std::size_t bytes, PageAccess from, PageAccess to) = 0;
};

/// Whether this system has all of userfaultfd that open_userfaultfd() needs, for this user; the failure says what is
/// missing and what would provide it.
Result<> userfaultfd_works();

/// Faults by userfaultfd: a page is a few table entries of the kernel, however scattered pages are. `second` maps what
/// is at `first`.
Result<std::unique_ptr<PageFaults>> open_userfaultfd(const SecondMapping& second, std::byte* first);

/// Faults by the protection of memory (mprotect): works everywhere, but the kernel keeps a record for each run of pages
/// with the same protection and limits their number (vm.max_map_count).
std::unique_ptr<PageFaults> use_protection(const SecondMapping& second);

} // namespace kumiki::platform
