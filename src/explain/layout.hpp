#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// The file that a rank leaves for `kumiki run --explain`. The tool reads it with the same layout
/// (tool/kumiki/explain/record.py); a change of either needs another version.
namespace kumiki::explain {

inline constexpr std::uint64_t magic = 0x4E4941'4C505845; // "EXPLAIN" in memory
inline constexpr std::uint32_t version = 2;

/// What an event says. `address` is where in the array, unless it says otherwise.
enum class Kind : std::uint8_t {
    none,
    read_fault,  ///< by the instruction `code`; took `value` ns
    write_fault, ///< the same, of a write
    fetch,       ///< of a page; bytes `low` to `high` differ from this rank's last copy; low > high: none does
    difference,  ///< sent to the home of a page: `value` bytes, among those from `low` to `high`
    dropped,     ///< this rank's copy of a page
    home,        ///< this rank has become the home of `value` pages
    block,       ///< of the heap, `value` bytes long, allocated by the instruction `code`
};

struct Event {
    std::uint64_t code, address, value;
    std::uint32_t interval; ///< barriers of shared memory before
    std::uint16_t region;   ///< the tally of a parallel region + 1; 0: none
    std::uint16_t array;    ///< place in the table of arrays
    std::uint16_t low, high;
    std::atomic<Kind> kind; ///< written last; none: the rank has died while it wrote the event
    std::uint8_t spare[3];
};
static_assert(sizeof(Event) == 40);

/// What a shared array is to the program.
enum class Use : std::uint8_t { array, variables, heap, stacks };

enum class Count : std::uint8_t {
    read_faults,
    write_faults,
    fault_ns,
    fetches,
    fetched_bytes,
    idle_fetches, ///< that brought nothing new
    differences,
    difference_bytes,
    dropped,
    number
};

/// An array: what it is, and what has been counted of it even where there was no room for events.
struct Array {
    std::uint64_t address, bytes;
    std::uint32_t page_bytes;
    std::uint32_t born, ended; ///< intervals; `ended` is 0 while it lives
    std::uint8_t placement;    ///< dsm::Placement
    Use use;
    bool never_faults; ///< at the home of a page, whose writes nothing tells
    std::uint8_t spare;
    std::uint64_t callers[8]; ///< the functions that were at work when it was allocated, the innermost first; 0: none
    std::atomic<std::uint64_t> counts[static_cast<std::size_t>(Count::number)];
};
static_assert(sizeof(Array) == 168);

/// What is counted and timed, but not event by event.
enum class Tallied : std::uint8_t {
    none,
    region,        ///< executions of the parallel region whose function is at `key`; 0: the program between regions
    region_wait,   ///< waits for other ranks at the barriers of this region
    lock,          ///< acquisitions of the shared lock `key`
    atomic,        ///< executions of the atomic instruction at `key`
    array_barrier, ///< barriers of shared arrays that the program calls
    gathered,      ///< updates by the atomic instruction at `key` that the rank has gathered, and not sent
};

struct Tally {
    std::atomic<std::uint64_t> id; ///< Tallied << 56 | key; 0: unused
    std::atomic<std::uint64_t> count, ns;
};

struct Header {
    std::uint64_t magic;
    std::uint32_t version, rank, size;
    std::uint32_t copies;   ///< whether every rank has copies of its own
    std::uint32_t finished; ///< whether the rank has left the job
    std::uint32_t arrays;   ///< in the table
    std::atomic<std::uint32_t> interval;
    std::atomic<std::uint32_t> region;
    std::atomic<std::uint64_t> events; ///< also those for which there was no room
    std::uint64_t began, ended;        ///< ns; `ended` is 0 until the rank has left the job
    std::uint64_t processor_ns;        ///< processor time of all its threads, when it left
    std::uint64_t most_arrays, most_tallies, most_events;
    char host[256];
};

inline constexpr std::size_t most_arrays = 1024, most_tallies = 4096, most_events = std::size_t{1} << 20;

struct File {
    Header header;
    Array arrays[most_arrays];
    Tally tallies[most_tallies];
    Event events[most_events];
};

} // namespace kumiki::explain
