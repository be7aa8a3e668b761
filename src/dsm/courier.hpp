#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "dsm/early_requests.hpp"
#include "dsm/packed_pages.hpp"
#include "fabric/network/network.hpp"

namespace kumiki::dsm {

class Locks;
class Pages;

/// The arrays of a rank, by number. A thread that handles a fault or receives messages may read it while another one
/// makes an array.
struct Arrays {
    static constexpr std::uint32_t most = 256;

    Pages* find(std::uint64_t number) const {
        return number < used_.load(std::memory_order_acquire) ? pages_[number].load(std::memory_order_acquire)
                                                              : nullptr;
    }
    /// Calls each(array) until it returns true; returns whether it has.
    template <class Each>
    bool any(Each each) const {
        for (std::uint32_t number = 0; number < used_.load(std::memory_order_acquire); ++number)
            if (Pages* const array = find(number); array != nullptr && each(*array)) return true;
        return false;
    }
    /// The smallest unused number; `most` if there is none. Only one thread at a time may call this, add() and
    /// remove().
    std::uint32_t unused() const {
        std::uint32_t number = 0;
        while (number < most && find(number) != nullptr) ++number;
        return number;
    }
    /// The array that has this address; null: none. The program uses the address, so no thread releases that array;
    /// but others may be released meanwhile, and are not touched.
    Pages* at(const void* address) const {
        const auto wanted = reinterpret_cast<std::uintptr_t>(address);
        for (std::uint32_t number = 0; number < used_.load(std::memory_order_acquire); ++number)
            if (wanted >= begins_[number].load(std::memory_order_acquire) &&
                wanted < ends_[number].load(std::memory_order_acquire))
                return find(number);
        return nullptr;
    }
    void add(std::uint32_t number, Pages& array, std::span<const std::byte> memory) {
        const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
        begins_[number].store(begin, std::memory_order_release);
        pages_[number].store(&array, std::memory_order_release);
        ends_[number].store(begin + memory.size(), std::memory_order_release);
        if (number >= used_.load(std::memory_order_relaxed)) used_.store(number + 1, std::memory_order_release);
    }
    /// There is no longer an array with this number. First its end is gone, so at() never sees the beginning of the
    /// next array with this number together with the end of this one.
    void remove(std::uint32_t number) {
        ends_[number].store(0, std::memory_order_release);
        pages_[number].store(nullptr, std::memory_order_release);
    }

private:
    std::array<std::atomic<Pages*>, most> pages_{};
    std::array<std::atomic<std::uintptr_t>, most> begins_{}, ends_{};
    std::atomic<std::uint32_t> used_{0}; ///< all numbers from here on are unused
};

/// Fetches pages from ranks of other hosts, and sends differences to them. The receiving thread of the home (one that
/// waits in the library, or the agent) answers; the home's computation takes no part. Messages of locks take the same
/// way.
class Courier final : public fabric::MessageSink {
public:
    Courier(fabric::Fabric& fabric, const Arrays& arrays);
    ~Courier() override { network_.dismiss(fabric::SinkId::pages); }
    Courier(const Courier&) = delete;
    Courier& operator=(const Courier&) = delete;

    /// From now on passes messages of locks on.
    void serve(Locks& locks) { locks_.store(&locks, std::memory_order_release); }

    std::size_t longest_message() const { return network_.limits().part; }

    /// Requests pages that have one home. They arrive through Pages::take, and then this rank's bell rings.
    void fetch(int home, std::uint32_t array, PageRun run);
    /// The same for several runs of pages of this length. The home copies all pages into as few messages as possible.
    void fetch(int home, std::uint32_t array, std::span<const PageRun> runs, std::size_t page_bytes);
    /// Requests, ahead of this barrier, at most EarlyRequests::most_pages pages, which their home sends when it leaves
    /// the barrier. They arrive through Pages::take_early, and then this rank's bell rings.
    void fetch_early(int home, std::uint32_t array, std::uint64_t barrier, std::span<const PageRun> runs);
    /// Sends what other ranks have requested ahead of this barrier, which this rank is leaving.
    void answer_early(std::uint64_t barrier);
    /// Asks the manager of homes. The answer arrives through Pages::take_home, and then this rank's bell rings.
    void ask_home(int manager, std::uint32_t array, std::size_t page);
    /// `later`: with the next message to that rank, or when this thread waits, which it will at once.
    enum class Departure : std::uint8_t { now, later };
    /// Sends packed differences to the home of their pages.
    void send_differences(int home, std::uint32_t array, std::span<const std::byte> packed,
                          Departure departure = Departure::now);
    /// Sends new contents of pages at this barrier to a rank that has copies. They arrive through Pages::take_update,
    /// and then that rank's bell rings.
    void send_updates(int rank, std::uint32_t array, std::uint64_t barrier, std::span<const std::byte> packed);
    /// Tells the home that this rank has no copies of these pages.
    void tell_dropped(int home, std::uint32_t array, std::span<const std::uint64_t> pages);
    /// From now on there is no array with this number. Updates and drops may still be under way for one, because nobody
    /// waits for all of them.
    void forget(Arrays& arrays, std::uint32_t number);
    /// Waits until all differences that this rank has sent have been applied, or will have been before their home
    /// receives what this rank sends next (answers_differences()).
    void await_applied();

    /// From now on asks, with each fetch, whether the home has written to the page since its last release.
    void ask_for_releases() { asks_for_releases_ = true; }
    bool asks_for_releases() const { return asks_for_releases_.load(std::memory_order_relaxed); }
    /// The messages that have changed the memory of this rank so far have numbers up to this one. Each page keeps the
    /// number of its last one (Pages::origin), from before it changes. So a thread that finds a larger number there
    /// than it has found here before, may see what it did not see then; and otherwise it does not.
    std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
    /// In the thread that receives: the number of a message of a lock, whose page a thread of the program will store.
    std::uint64_t number_change() { return changes_.fetch_add(1, std::memory_order_acq_rel) + 1; }

private:
    enum class Kind : std::uint8_t {
        fetch,       ///< requests `bytes` pages from page `offset` on of array `value`; `ticket`: asks for releases
        page,        ///< pages from page `offset` on; `ticket`: the home may have written to them since its release
        fetch_runs,  ///< requests the runs of pages in the payload; otherwise as `fetch`
        packed,      ///< any pages, each behind its number; otherwise as `page`
        differences, ///< of pages of array `value`
        touched,     ///< asks the manager for the home of page `offset` of array `value`
        home,        ///< the answer, in `ticket`
        applied,     ///< the answer to differences
        update,      ///< new contents of pages of array `value`, at barrier `ticket`
        dropped,     ///< the pages of array `value` of which the source has no copies any more
        fetch_early, ///< requests the runs of pages in the payload for the time after barrier `ticket`
        early,       ///< the answer: any pages, each behind its number; without contents, where they must be fetched
    };
    /// Not between two ranks: what this rank may do next is seen by the home alone, and messages arrive in order. A
    /// third rank could ask the home for the page before the differences are there.
    bool answers_differences() const;
    fabric::MessageHeader header(Kind kind, std::uint64_t array, std::uint64_t page) const;
    [[noreturn]] void give_up(int rank, const Failure& failure) const;

    bool receive(const fabric::MessageHeader& header, std::span<const std::byte> payload) override;
    bool receive_unawaited(const fabric::MessageHeader& header, std::span<const std::byte> payload);
    bool give_home(const fabric::MessageHeader& request, Pages& array);
    bool answer(const fabric::MessageHeader& request, Pages& array);
    bool answer_with_copies(const fabric::MessageHeader& request, Pages& array);
    bool answer_runs(const fabric::MessageHeader& request, std::span<const std::byte> payload, Pages& array);
    bool receive_early(const fabric::MessageHeader& request, std::span<const std::byte> payload);
    void answer_early(const EarlyRequest& request, Pages& array, std::size_t& left);
    bool take_packed(std::span<const std::byte> payload, Pages& array, std::uint64_t number, bool unreleased);
    void post_kept(int rank, const fabric::MessageHeader& header, std::vector<std::byte> payload);
    void left(std::uint64_t ticket) override;
    bool pump() override { return false; }

    fabric::Fabric& fabric_;
    fabric::Network& network_;
    const Arrays& arrays_;
    std::atomic<Locks*> locks_{nullptr};
    EarlyRequests early_;
    std::map<std::uint64_t, std::vector<std::byte>> lent_; ///< pages that have not left; by the receiving thread
    std::uint64_t tickets_ = 0;
    std::mutex unawaited_;                   ///< held while a message that nobody waits for uses an array
    std::atomic<std::int64_t> under_way_{0}; ///< messages that will be answered by `applied`
    std::atomic<std::uint64_t> changes_{0};  ///< written by the receiving thread
    std::atomic<bool> asks_for_releases_{false};
};

} // namespace kumiki::dsm
