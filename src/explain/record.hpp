#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "error/result.hpp"
#include "explain/layout.hpp"

namespace kumiki::explain {

/// What shared memory has cost this rank, for `kumiki run --explain`. It is written to a file that is mapped, so it is
/// complete also when the rank is killed, and a handler of faults may write to it: no function here takes a lock,
/// allocates memory or touches memory of the program, but for open() and array().
///
/// Events have places in the file in the order in which they begin to be written. Their number is limited
/// (layout.hpp); the counts of arrays and the tallies stay exact.
class Record {
public:
    /// Null when `folder` is empty. Creates rank-N.record in the folder, and rank-N.maps: what the process has mapped
    /// (proc(5)), from which the tool knows the sources of addresses. Where there is no such folder, because this host
    /// is another one than the tool's, the record is kept in memory (is_elsewhere).
    static Result<std::unique_ptr<Record>> open(const std::string& folder, int rank, int size, const std::string& host);
    ~Record();
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    void set_copies(bool copies) { file_->header.copies = copies ? 1 : 0; }
    /// The rank is leaving the job as it should.
    void finish();

    bool is_elsewhere() const { return elsewhere_; }
    /// Of both files.
    std::vector<std::byte> contents() const;
    /// Writes the files of another rank to this one's folder. What cannot be written is lost without a message.
    void save(int rank, std::span<const std::byte> contents) const;

    /// Of the whole job: writes the races that have been found, as the tool reads them, to races.json in the folder.
    /// What cannot be written is lost without a message.
    void save_races(const std::string& races) const;

    /// Adds an array; returns its place in the table, or no_array when that is full. One thread at a time calls it.
    std::uint16_t array(std::span<const std::byte> memory, std::size_t page_bytes, std::uint8_t placement, Use use,
                        bool never_faults);
    void end_array(std::uint16_t array);
    static constexpr std::uint16_t no_array = 0xffff;

    void add(Kind kind, std::uint16_t array, const void* address, std::uint64_t value, const void* code = nullptr,
             std::uint16_t low = 0, std::uint16_t high = 0);
    void count(std::uint16_t array, Count what, std::uint64_t value = 1);
    void tally(Tallied what, std::uint64_t key, std::chrono::nanoseconds took);

    /// A barrier of shared memory has ended.
    void next_interval() { file_->header.interval.fetch_add(1, std::memory_order_relaxed); }
    /// From now on the rank executes the parallel region with this function; 0: what is between regions.
    void enter_region(std::uint64_t function);
    /// The region that the rank executes.
    std::uint64_t region() const;

private:
    Record(File* file, std::string folder, std::string maps, bool elsewhere)
        : file_(file), folder_(std::move(folder)), maps_(std::move(maps)), elsewhere_(elsewhere) {}
    std::size_t find(std::uint64_t id, std::size_t most);
    std::size_t find_lock(std::uint64_t key);

    std::atomic<std::size_t> tallies_ = 0; ///< that are used
    File* file_;
    std::string folder_, maps_;
    bool elsewhere_;
};

/// Adds the time of a scope to a tally, if there is a record.
class Timed {
public:
    using Clock = std::chrono::steady_clock;

    Timed(Record* record, Tallied what, std::uint64_t key = 0) : record_(record), what_(what), key_(key) {
        if (record_ != nullptr) [[unlikely]]
            begin_ = Clock::now();
    }
    ~Timed() {
        if (record_ != nullptr && what_ != Tallied::none) [[unlikely]]
            record_->tally(what_, key_, Clock::now() - begin_);
    }
    /// It turns out to be something else; `none`: it is not counted.
    void becomes(Tallied what) { what_ = what; }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    Record* record_;
    Tallied what_;
    std::uint64_t key_;
    Clock::time_point begin_;
};

/// The first and the last byte of a page that differ from another copy of it; first > last: none does.
struct PageBytes {
    std::uint16_t first = 1, last = 0;

    static PageBytes differing(std::span<const std::byte> one, std::span<const std::byte> other);
    void include(std::size_t begin, std::size_t bytes);
};

/// The part of the record that is about the pages of one array. An empty one must not be written to.
class PageLog {
public:
    PageLog() = default;
    PageLog(Record* record, std::uint16_t array, const std::byte* data) : record_(record), array_(array), data_(data) {}
    explicit operator bool() const { return record_ != nullptr; }

    void faulted(const std::byte* address, bool writes, const void* code, std::chrono::nanoseconds took) const;
    /// `before` is this rank's last copy of the page at `offset` bytes, and `now` the one that replaces it.
    void fetched(std::size_t offset, std::span<const std::byte> before, std::span<const std::byte> now) const;
    /// `bytes` bytes of the page at `offset` bytes go to its home.
    void differed(std::size_t offset, PageBytes changed, std::size_t bytes) const;
    void dropped(std::size_t offset) const;
    void became_home(std::size_t offset, std::size_t pages) const;
    void ended() const { record_->end_array(array_); }

private:
    Record* record_ = nullptr;
    std::uint16_t array_ = Record::no_array;
    const std::byte* data_ = nullptr;
};

} // namespace kumiki::explain
