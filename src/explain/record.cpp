#include "explain/record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "explain/callers.hpp"
#include "kumiki/shared.h"
#include "platform/descriptor.hpp"
#include "platform/write_all.hpp"

namespace kumiki::explain {
namespace {

constexpr unsigned key_bits = 56;

std::uint64_t now() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Timed::Clock::now().time_since_epoch()).count());
}

/// What the process has mapped, as the kernel says it.
std::string read_maps() {
    const platform::Descriptor file(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
    std::string maps;
    char text[4096];
    for (ssize_t bytes = 0; file && (bytes = read(file.get(), text, sizeof text)) > 0;)
        maps.append(text, static_cast<std::size_t>(bytes));
    return maps;
}

bool write_file(const std::string& path, std::string_view text) {
    const platform::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    return file && platform::write_all(file.get(), text);
}

Result<File*> map(const std::string& path, bool elsewhere) {
    const platform::Descriptor file(elsewhere ? memfd_create("kumiki-explain", MFD_CLOEXEC)
                                              : ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    void* memory = MAP_FAILED;
    if (file && ftruncate(file.get(), sizeof(File)) == 0)
        memory = mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory != MAP_FAILED) return static_cast<File*>(memory);
    return fail(KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("cannot write what shared memory costs to {} ({}), as KUMIKI_EXPLAIN asks; name a folder "
                            "that can be written",
                            path, std::strerror(errno)));
}

std::string file_of(const std::string& folder, int rank, const char* kind) {
    return fmt::format("{}/rank-{}.{}", folder, rank, kind);
}

} // namespace

PageBytes PageBytes::differing(std::span<const std::byte> one, std::span<const std::byte> other) {
    std::size_t first = 0, end = one.size();
    while (first < end && one[first] == other[first]) ++first;
    if (first == end) return {};
    while (one[end - 1] == other[end - 1]) --end;
    return {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(end - 1)};
}

void PageBytes::include(std::size_t begin, std::size_t bytes) {
    const auto first_one = static_cast<std::uint16_t>(begin), last_one = static_cast<std::uint16_t>(begin + bytes - 1);
    *this =
        first > last ? PageBytes{first_one, last_one} : PageBytes{std::min(first, first_one), std::max(last, last_one)};
}

Result<std::unique_ptr<Record>> Record::open(const std::string& folder, int rank, int size, const std::string& host) {
    if (folder.empty()) return nullptr;
    const bool elsewhere = access(folder.c_str(), F_OK) != 0;
    auto file = map(file_of(folder, rank, "record"), elsewhere);
    if (!file) return tl::unexpected(file.error());
    std::string maps = read_maps();
    if (!elsewhere) write_file(file_of(folder, rank, "maps"), maps);
    find_libraries();
    Header& header = (*file)->header;
    header.version = version;
    header.rank = static_cast<std::uint32_t>(rank);
    header.size = static_cast<std::uint32_t>(size);
    header.most_arrays = most_arrays;
    header.most_tallies = most_tallies;
    header.most_events = most_events;
    header.began = now();
    std::strncpy(header.host, host.c_str(), sizeof header.host - 1);
    header.magic = magic;
    return std::unique_ptr<Record>(new Record(*file, folder, std::move(maps), elsewhere));
}

Record::~Record() { munmap(file_, sizeof(File)); }

void Record::finish() {
    enter_region(0);
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    file_->header.processor_ns =
        static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
    file_->header.ended = now();
    file_->header.finished = 1;
}

std::vector<std::byte> Record::contents() const {
    const std::uint64_t events = std::min<std::uint64_t>(file_->header.events.load(), most_events);
    const auto* const begin = reinterpret_cast<const std::byte*>(file_);
    const auto maps = std::as_bytes(std::span(maps_));
    std::vector<std::byte> all(begin, reinterpret_cast<const std::byte*>(&file_->events[events]));
    all.insert(all.end(), maps.begin(), maps.end());
    return all;
}

void Record::save(int rank, std::span<const std::byte> contents) const {
    if (contents.size() < sizeof(Header)) return;
    std::uint64_t events = 0;
    std::memcpy(&events, &contents[offsetof(Header, events)], sizeof events);
    const std::size_t bytes = offsetof(File, events) + std::min<std::uint64_t>(events, most_events) * sizeof(Event);
    if (bytes > contents.size()) return;
    const std::string_view text(reinterpret_cast<const char*>(contents.data()), contents.size());
    write_file(file_of(folder_, rank, "record"), text.substr(0, bytes));
    write_file(file_of(folder_, rank, "maps"), text.substr(bytes));
}

/// The tool must never read a part of it.
void Record::save_races(const std::string& races) const {
    const std::string path = folder_ + "/races.json", whole = path + ".new";
    if (write_file(whole, races)) static_cast<void>(std::rename(whole.c_str(), path.c_str()));
}

std::uint16_t Record::array(std::span<const std::byte> memory, std::size_t page_bytes, std::uint8_t placement, Use use,
                            bool never_faults) {
    Header& header = file_->header;
    if (header.arrays == most_arrays) return no_array;
    Array& array = file_->arrays[header.arrays];
    array.address = reinterpret_cast<std::uintptr_t>(memory.data());
    array.bytes = memory.size();
    array.page_bytes = static_cast<std::uint32_t>(page_bytes);
    array.born = header.interval.load(std::memory_order_relaxed);
    array.placement = placement;
    array.use = use;
    array.never_faults = never_faults;
    program_callers(array.callers);
    return static_cast<std::uint16_t>(header.arrays++);
}

void Record::end_array(std::uint16_t array) {
    if (array == no_array) return;
    file_->arrays[array].ended = file_->header.interval.load(std::memory_order_relaxed) + 1;
}

/// Each writer has a place of its own. The kind is written last, so that the tool, which reads when the rank has ended,
/// leaves out an event in the middle of which it was killed; no other thread reads it, hence the relaxed order: only
/// the compiler has to keep it behind the rest.
void Record::add(Kind kind, std::uint16_t array, const void* address, std::uint64_t value, const void* code,
                 std::uint16_t low, std::uint16_t high) {
    const std::uint64_t place = file_->header.events.fetch_add(1, std::memory_order_relaxed);
    if (place >= most_events) return;
    Event& event = file_->events[place];
    event.code = reinterpret_cast<std::uintptr_t>(code);
    event.address = reinterpret_cast<std::uintptr_t>(address);
    event.value = value;
    event.interval = file_->header.interval.load(std::memory_order_relaxed);
    event.region = static_cast<std::uint16_t>(file_->header.region.load(std::memory_order_relaxed));
    event.array = array;
    event.low = low;
    event.high = high;
    std::atomic_signal_fence(std::memory_order_release);
    event.kind.store(kind, std::memory_order_relaxed);
}

void Record::count(std::uint16_t array, Count what, std::uint64_t value) {
    if (array != no_array)
        file_->arrays[array].counts[static_cast<std::size_t>(what)].fetch_add(value, std::memory_order_relaxed);
}

namespace {

std::uint64_t id_of(Tallied what, std::uint64_t key) {
    return static_cast<std::uint64_t>(what) << key_bits | (key & ((std::uint64_t{1} << key_bits) - 1));
}

} // namespace

/// The place of this id, which is claimed if it is new and fewer than `most` are; most_tallies: there is no room left.
/// Relaxed: an id is claimed once and never changes, and the numbers beside it begin with zero.
std::size_t Record::find(std::uint64_t id, std::size_t most) {
    const std::size_t start = (id * 0x9E3779B97F4A7C15) >> 52;
    static_assert(most_tallies == std::size_t{1} << (64 - 52));
    for (std::size_t step = 0; step < most_tallies; ++step) {
        const std::size_t place = (start + step) % most_tallies;
        std::uint64_t there = file_->tallies[place].id.load(std::memory_order_relaxed);
        if (there == id) return place;
        if (there != 0) continue;
        if (tallies_.load(std::memory_order_relaxed) >= most) return most_tallies;
        if (file_->tallies[place].id.compare_exchange_strong(there, id, std::memory_order_relaxed)) {
            tallies_.fetch_add(1, std::memory_order_relaxed);
            return place;
        }
        if (there == id) return place;
    }
    return most_tallies;
}

/// A program may have a lock for each element of an array. They must leave room for its regions: when there are many,
/// those of one page count as one.
std::size_t Record::find_lock(std::uint64_t key) {
    const std::size_t place = find(id_of(Tallied::lock, key), most_tallies / 2);
    constexpr std::uint64_t page = 4096;
    if (place != most_tallies || key <= KUMIKI_SHARED_LOCKS) return place;
    return find(id_of(Tallied::lock, key / page * page + page / 2), most_tallies / 4 * 3);
}

void Record::tally(Tallied what, std::uint64_t key, std::chrono::nanoseconds took) {
    const std::size_t place = what == Tallied::lock ? find_lock(key) : find(id_of(what, key), most_tallies);
    if (place == most_tallies) return;
    file_->tallies[place].count.fetch_add(1, std::memory_order_relaxed);
    file_->tallies[place].ns.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
}

void Record::enter_region(std::uint64_t function) {
    const std::size_t place = function == 0 ? most_tallies : find(id_of(Tallied::region, function), most_tallies);
    const auto region = static_cast<std::uint32_t>(place == most_tallies ? 0 : place + 1);
    file_->header.region.store(region, std::memory_order_relaxed);
}

std::uint64_t Record::region() const {
    const std::uint32_t region = file_->header.region.load(std::memory_order_relaxed);
    if (region == 0) return 0;
    return file_->tallies[region - 1].id.load(std::memory_order_relaxed) & ((std::uint64_t{1} << key_bits) - 1);
}

// -- the pages of an array --

void PageLog::faulted(const std::byte* address, bool writes, const void* code, std::chrono::nanoseconds took) const {
    const auto ns = static_cast<std::uint64_t>(took.count());
    record_->count(array_, writes ? Count::write_faults : Count::read_faults);
    record_->count(array_, Count::fault_ns, ns);
    record_->add(writes ? Kind::write_fault : Kind::read_fault, array_, address, ns, in_program(code));
}

void PageLog::fetched(std::size_t offset, std::span<const std::byte> before, std::span<const std::byte> now) const {
    const PageBytes changed = PageBytes::differing(before, now);
    record_->count(array_, Count::fetches);
    record_->count(array_, Count::fetched_bytes, now.size());
    if (changed.first > changed.last) record_->count(array_, Count::idle_fetches);
    record_->add(Kind::fetch, array_, data_ + offset, now.size(), nullptr, changed.first, changed.last);
}

void PageLog::differed(std::size_t offset, PageBytes changed, std::size_t bytes) const {
    record_->count(array_, Count::differences);
    record_->count(array_, Count::difference_bytes, bytes);
    record_->add(Kind::difference, array_, data_ + offset, bytes, nullptr, changed.first, changed.last);
}

void PageLog::dropped(std::size_t offset) const {
    record_->count(array_, Count::dropped);
    record_->add(Kind::dropped, array_, data_ + offset, 0);
}

void PageLog::became_home(std::size_t offset, std::size_t pages) const {
    record_->add(Kind::home, array_, data_ + offset, pages);
}

} // namespace kumiki::explain
