#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/collectives.hpp"
#include "dsm/consistency.hpp"
#include "dsm/courier.hpp"
#include "dsm/locks.hpp"
#include "dsm/pages.hpp"
#include "error/result.hpp"
#include "fabric/fabric.hpp"
#include "platform/fault_signals.hpp"
#include "platform/page_faults.hpp"
#include "settings/settings.hpp"

namespace kumiki::dsm {

/// The shared arrays of a rank: memory at the same address in every rank. Where all ranks are on one host they map the
/// same memory, and nothing else happens. Otherwise every rank has a copy of each page that it uses (Pages), and the
/// copies are made consistent at barrier() and by locks.
///
/// allocate(), release() and barrier() are collective: one thread of every rank calls them, in the same order. The
/// others are thread-safe.
class SharedMemory final : public platform::FaultHandler {
public:
    struct Options {
        CopyHolder copies = CopyHolder::host;
        FaultMechanism faults = FaultMechanism::automatic;
        /// Where the arrays begin. The same at all ranks, except where several of them are in one process.
        std::byte* base = platform::unused_addresses();
        /// Whether system calls with buffers in pages that are not here work (platform::trap_system_calls). Not where
        /// the C library's own buffers are in shared arrays: it makes calls in which no signal can be handled.
        bool system_calls = true;
    };

    static constexpr std::size_t longest_page = std::size_t{64} << 10;

    SharedMemory(fabric::Fabric& fabric, collective::Collectives& collectives, Options options);
    ~SharedMemory() override;
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// Zeros. `page` is the unit of the protocol: a power of two from the system's page to longest_page; 0: the
    /// system's page.
    Result<void*> allocate(std::size_t bytes, std::size_t page, Placement placement);
    /// The same, with the system's pages, none of which ever faults at its home (Pages::keep_open).
    Result<void*> allocate_open(std::size_t bytes, Placement placement);
    /// Makes memory that every rank has at the same address a shared array, with the contents that it has at rank 0;
    /// the pages are the system's, and `memory` consists of whole ones. Its homes do not fault, either. Only where
    /// every rank has its own copy, and it is never released.
    Result<> adopt(std::span<std::byte> memory, Placement placement);
    /// `memory` is what allocate() returned.
    Result<> release(void* memory);
    /// After this, everything that any rank did to shared arrays before is visible to all ranks.
    Result<> barrier();

    /// The locks exist from the first array on.
    Result<Locks*> locks(const char* operation);
    /// Fails if a thread of this rank holds a lock.
    Result<> all_released() const { return locks_ ? locks_->all_released() : Result<>{}; }

    /// Collective: a barrier, after which the homes of `pages` pages, from the one at `address` on, are open: the next
    /// touch decides them. 0 pages: to the end of the array.
    Result<> open_homes(const void* address, std::size_t pages);
    /// The rank that is the home of the page at this address, which is in an array; KUMIKI_HOME_OPEN: none yet.
    Result<int> home(const void* address);
    /// The counters of the array at this address; null: the sum over all arrays.
    Result<kumiki_shared_counters> counters(const void* address);
    /// Whether every rank has its own copy.
    bool has_copies() const { return copies_; }
    /// "userfaultfd" or "protection" if there are copies, otherwise "none".
    const char* mechanism() const;

    bool fault(std::byte* address, platform::Attempt attempt) override;
    std::size_t accessible(const std::byte* address) const override;

private:
    struct Array {
        std::byte* region; ///< of this rank
        platform::SecondMapping view;
        Placement placement;
        Pages::Layout layout;
        std::unique_ptr<Pages> pages; ///< null: there are no copies
    };

    /// What is special about an array.
    struct Wish {
        std::byte* at = nullptr; ///< memory that the process has already, where the array shall be
        bool open = false;       ///< homes do not fault
    };

    Result<void*> add(std::size_t bytes, const Pages::Layout& layout, Placement placement, Wish wish);
    Result<> fill(std::byte* region, std::span<const std::byte> contents);
    std::byte* address_of(const std::byte* region) const;
    Result<> prepare();
    Result<> choose_mechanism();
    Result<> make_locks();
    /// The bytes of the array that each rank holds where there are no copies.
    std::size_t piece_of(const Pages::Layout& layout) const;
    Result<Array> make(std::byte* region, std::size_t bytes, const Pages::Layout& layout, Placement placement,
                       Wish wish);
    Result<> map_everybodys(const std::byte* region, platform::SecondMapping& view, std::size_t piece) const;
    /// Fails when the address is in no shared array. Must be called with the mutex held.
    Result<Array*> array_of(const void* address);
    Result<std::unique_ptr<platform::PageFaults>> watch(const platform::SecondMapping& view, std::byte* region) const;
    Result<> agree(const Result<>& local, std::uint64_t detail);
    Result<> may_open(const Array* array, const void* address, std::size_t first, std::size_t pages);
    Array* find(const void* address);
    std::string nearest(const std::byte* address);

    fabric::Fabric& fabric_;
    collective::Collectives& collectives_;
    Options options_;
    bool copies_;
    bool uses_userfaultfd_ = false;
    std::mutex mutex_; ///< guards the list below; no fault handler takes it
    std::vector<std::unique_ptr<Array>> arrays_;
    Arrays numbered_; ///< the same arrays for fault handlers and the courier
    std::unique_ptr<Courier> courier_;
    std::unique_ptr<Consistency> consistency_; ///< null: there are no copies
    std::unique_ptr<Locks> locks_;
    WrittenWords* written_ = nullptr; ///< of this host; null before the first array
    std::uint64_t barriers_ = 0;
    std::optional<platform::FaultRange> range_;
    std::vector<platform::FaultRange> adopted_;
};

} // namespace kumiki::dsm
