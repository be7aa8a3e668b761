#pragma once

#include <atomic>
#include <chrono>
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
#include "dsm/race_check.hpp"
#include "dsm/shape.hpp"
#include "dsm/shared_heap.hpp"
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
        SharedProtocol protocol = SharedProtocol::invalidate; ///< of new arrays
        /// Where the arrays begin. The same at all ranks, except where several of them are in one process.
        std::byte* base = platform::unused_addresses();
        /// Whether system calls with buffers in pages that are not here work (platform::trap_system_calls). Not where
        /// the C library's own buffers are in shared arrays: it makes calls in which no signal can be handled.
        bool system_calls = true;
        /// Where to record what the arrays cost; null: nowhere.
        explain::Record* record = nullptr;
        /// Bytes of other ranks' pages that the ranks of a host hold together (CopyCache); 0: any number.
        std::uint64_t cache = 0;
        /// Whether to find bytes that two ranks write without order (RaceCheck). Then every rank has its own copy,
        /// homes stay where they are, and the protocol is `invalidate`.
        bool check = false;
        /// Whether the program executes code that it has written on stacks (explain::Use::stacks).
        bool executable_stacks = false;
        /// The same in the program's heap (explain::Use::heap).
        bool executable_heap = false;
        /// Bytes of the heap, for all ranks together (KUMIKI_SHARED_HEAP); 0: there is none.
        std::uint64_t heap = 0;
    };

    static constexpr std::size_t longest_page = std::size_t{64} << 10;

    SharedMemory(fabric::Fabric& fabric, collective::Collectives& collectives, Options options);
    ~SharedMemory() override;
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// Zeros. `page` is the unit of the protocol: a power of two from the system's page to longest_page; 0: the
    /// system's page.
    Result<void*> allocate(std::size_t bytes, std::size_t page, Placement placement,
                           explain::Use use = explain::Use::array);
    /// The same for elements in dimensions, some of which may be dealt to the ranks: then each page has its home at the
    /// rank that has its first byte, and otherwise where `placement` says.
    Result<void*> allocate(const Shape& shape, std::size_t page, Placement placement,
                           explain::Use use = explain::Use::array);
    /// The same, with the system's pages, none of which ever faults at its home (Pages::keep_open).
    Result<void*> allocate_open(std::size_t bytes, Placement placement, explain::Use use);
    enum class AtHome : std::uint8_t { never_faults, faults };
    /// Makes memory that every rank has at the same address a shared array, with the contents that it has at rank 0;
    /// the pages are the system's, and `memory` consists of whole ones. Only where every rank has its own copy, and it
    /// is never released. A page whose home a touch decides faults.
    Result<> adopt(std::span<std::byte> memory, const Arrangement& homes, AtHome at_home);
    /// `memory` is what allocate() returned.
    Result<> release(void* memory);
    /// What a barrier does besides; the same at all ranks, but for the memory.
    struct Meeting {
        /// Bytes of rank `root`, which all others get here.
        std::span<std::byte> message = {};
        int root = 0;
        /// The stack of the thread that calls; nothing below this address on its page is of use to the program.
        const void* stack = nullptr;
        /// Whether only rank `root` has executed the program since the last barrier. Where a touch decides homes, pages
        /// that it has touched then move to a rank that alone keeps writing to them: it probably had to initialize
        /// them.
        bool ends_alone = false;
    };
    /// After this, everything that any rank did to shared arrays before is visible to all ranks.
    Result<> barrier() { return barrier(Meeting{}); }
    Result<> barrier(const Meeting& meeting);

    /// Tells, after a barrier, at which place of the program the interval begins that ends at the next one: any number
    /// that is the same when the program comes there again. What this rank is expected to need in it, because it needed
    /// it there before, is fetched at once. Need not be called, and ranks may call it for different places.
    void begin_interval(std::uint64_t place) {
        if (consistency_) consistency_->begin_interval(place);
    }

    /// The locks exist from the first array on.
    Result<Locks*> locks(const char* operation);
    /// So does the heap.
    Result<SharedHeap*> heap(const char* operation);
    /// The rank that may be asked to change a word; nothing: none.
    std::optional<int> home_for_changes(const void* word) const;
    /// Changes a word of an array at its home, as Locks::change_word() does; nothing: it must be done under the lock.
    std::optional<std::uint64_t> change_word(Locks& locks, const ChangeLock& lock, const void* word,
                                             const WordChange& change) const;
    /// Changes a word of an array in this rank's copy, as Pages::gather_change() does. Every rank must be on a host of
    /// its own, and every change of the word be made by one of these two functions, with locks of each home.
    std::optional<std::uint64_t> gather_change(const void* word, const WordChange& change) const;
    /// Fails if a thread of this rank holds a lock.
    Result<> all_released() const { return locks_ ? locks_->all_released() : Result<>{}; }

    /// Collective: a barrier, after which the homes of `pages` pages, from the one at `address` on, are open: the next
    /// touch decides them. 0 pages: to the end of the array.
    Result<> open_homes(const void* address, std::size_t pages);
    /// Collective: a barrier, from which on the array at `address` is kept consistent by this protocol.
    Result<> set_protocol(const void* address, SharedProtocol protocol);
    /// The rank that is the home of the page at this address, which is in an array; KUMIKI_HOME_OPEN: none yet.
    Result<int> home(const void* address);
    struct IndexRun {
        std::size_t begin, end;
    };
    /// The first run, from index `from` of a dimension on, of indexes that are this rank's: where this dimension is
    /// dealt, or where none is and it is the first one, those whose elements begin in pages of which this rank is the
    /// home (or stands in for it); else all. Empty: there is none. Between two barriers each index is one rank's.
    Result<IndexRun> own(const void* address, std::size_t dimension, std::size_t from);
    /// The counters of the array at this address; null: the sum over all arrays.
    Result<kumiki_shared_counters> counters(const void* address);
    /// How many bytes of a region a byte of an array takes, at most.
    std::size_t bytes_for_each() const { return check_ ? 3 : 1; }
    /// The messages by which other ranks change the memory of this one; null where ranks of its host do so directly.
    Courier* changes() { return fabric_.everybody().host_size() == 1 ? courier_.get() : nullptr; }
    struct Change {
        std::uint64_t message = 0; ///< the last one that has changed a page (Courier::changes); 0: none has
        int unreleased_home = -1;  ///< the rank that may have written to it before, and has not released that; -1: none
    };
    /// Of the page that contains this address; also where it is in no shared array.
    Change last_change(const void* address) const;
    /// Fetches the page that contains this address if this rank lacks it.
    void bring(const void* address);
    /// The page that contains the address; nothing: it is in no array.
    std::optional<PageName> page_of(const void* address) const;
    /// That home has released it since.
    void note_release(const void* address, const Change& change);
    /// Whether every rank has its own copy.
    bool has_copies() const { return copies_; }
    /// "userfaultfd" or "protection" if there are copies, otherwise "none".
    const char* mechanism() const;

    /// Collective, before the ranks leave: ends the race check, if there is one.
    Result<> end_check();
    /// What it has found so far, at rank 0; null: there is none.
    const Races* races() const { return check_ ? &check_->races() : nullptr; }

    /// How long threads of this rank have been in faults, all together.
    std::chrono::nanoseconds time_in_faults() const {
        return std::chrono::nanoseconds(time_in_faults_.load(std::memory_order_relaxed));
    }

    bool fault(std::byte* address, platform::Attempt attempt) override;
    std::size_t accessible(const std::byte* address) const override;

private:
    struct Array {
        std::byte* region; ///< of this rank
        platform::SecondMapping view;
        Placement placement;
        Pages::Layout layout;
        std::unique_ptr<Pages> pages; ///< null: there are no copies
        Shape shape{};
        explain::PageLog log{}; ///< empty: none
    };

    /// What is special about an array.
    struct Wish {
        std::byte* at = nullptr; ///< memory that the process has already, where the array shall be
        bool open = false;       ///< homes do not fault
        explain::Use use = explain::Use::array;
        bool invalidates = false; ///< whatever the protocol of other arrays is
    };

    std::uint64_t share_of_cache() const;
    Pages::Layout layout(std::size_t bytes, std::size_t page) const;
    Pages::Layout layout_of_open(std::size_t bytes) const;
    Result<> check(const Shape& shape, std::size_t page) const;
    Result<void*> add(Shape shape, const Pages::Layout& layout, const Arrangement& homes, Wish wish);
    std::uint64_t needed_memory(const Pages::Layout& layout, Placement placement, explain::Use use) const;
    Homes homes_of(const Arrangement& wanted, std::size_t pages) const;
    void record(Array& array, std::size_t bytes, explain::Use use) const;
    Result<> meet(const Meeting& meeting);
    Result<> meet_with_copies(const Meeting& meeting);
    Result<> meet_without_copies(const Meeting& meeting);
    Result<> compare_writes();
    void fault(Pages& array, std::byte* address, platform::Attempt attempt);
    /// Calls use(array, page) for the page that contains the address, if it is in an array.
    template <class Use>
    void with_page(const void* address, Use use) const {
        Pages* const array = numbered_.at(address);
        if (array == nullptr) return;
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - array->data());
        use(*array, offset / array->layout().page_bytes);
    }
    std::byte* address_of(const std::byte* region) const;
    Result<> prepare();
    Result<> choose_mechanism();
    Result<> make_locks();
    Result<> make_heap();
    Result<std::uint64_t> heap_part() const;
    /// The bytes of the array that each rank holds where there are no copies.
    std::size_t piece_of(const Pages::Layout& layout) const;
    Result<Array> make(std::byte* region, std::size_t bytes, const Pages::Layout& layout, const Arrangement& homes,
                       Wish wish);
    Result<> map_everybodys(const std::byte* region, platform::SecondMapping& view, std::size_t piece) const;
    /// Fails when the address is in no shared array. Must be called with the mutex held.
    Result<Array*> array_of(const void* address);
    int standing_home(const Array& array, std::size_t page) const;
    std::optional<std::size_t> own_line(const Array& array, std::size_t dimension) const;
    Result<std::unique_ptr<platform::PageFaults>> watch(const platform::SecondMapping& view, std::byte* region) const;
    /// Why a call fails that this rank could have made.
    struct Disagreement {
        kumiki_status status; ///< if another rank refuses it
        const char* refused;  ///< the sentence about that
        const char* differ;   ///< what the ranks want if their arguments differ
    };
    Result<> agree(const Result<>& local, std::uint64_t detail, const Disagreement& otherwise);
    Result<> retire(Pages& pages);
    Result<> may_open(const Array* array, const void* address, std::size_t first, std::size_t pages);
    Array* find(const void* address);
    std::string nearest(const std::byte* address);

    fabric::Fabric& fabric_;
    collective::Collectives& collectives_;
    Options options_;
    std::atomic<std::chrono::nanoseconds::rep> time_in_faults_{0};
    bool copies_;
    bool uses_userfaultfd_ = false;
    CopyCache cache_;
    std::mutex mutex_; ///< guards the list below; no fault handler takes it
    std::vector<std::unique_ptr<Array>> arrays_;
    Arrays numbered_; ///< the same arrays for fault handlers and the courier
    std::unique_ptr<Courier> courier_;
    std::unique_ptr<RaceCheck> check_;         ///< null: there is none
    std::unique_ptr<Consistency> consistency_; ///< null: there are no copies
    std::unique_ptr<Locks> locks_;
    std::optional<SharedHeap> heap_;
    std::string no_heap_;             ///< why there is none
    WrittenWords* written_ = nullptr; ///< of this host; null before the first array; used if all ranks are on it
    std::uint64_t barriers_ = 0;
    /// On one host: whether the last barrier had notices. Then the next one begins with their exchange, which is a
    /// barrier, too: in programs that write in each interval this saves a barrier. All ranks know the same.
    bool notices_expected_ = false;
    std::optional<platform::FaultRange> range_;
    std::vector<platform::FaultRange> adopted_;
};

} // namespace kumiki::dsm
