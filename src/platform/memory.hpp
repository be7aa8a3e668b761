#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "error/result.hpp"

namespace kumiki::platform {

inline constexpr std::size_t cache_line = 64;

/// The distance between two words that different cores write: the processor fetches cache lines in pairs.
inline constexpr std::size_t apart = 128;

/// The length of an ordinary page, one that is not huge.
std::size_t page_size();
/// No machine has smaller pages. Layouts that must be the same at every rank separate data by this length; if pages are
/// larger, neighbours may share one.
inline constexpr std::size_t smallest_page = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// The physical memory of this host in bytes.
std::size_t physical_memory();

/// The memory in bytes that this process can still get, according to the host or to its control groups, whichever is
/// less. `root` is the folder that contains proc and sys.
std::size_t available_memory(const std::filesystem::path& root = "/");

/// Random bits from the system, for names that must be unique.
std::uint64_t random_number();

/// A file without a name that exists only in memory: processes share it by passing on its descriptor, and it disappears
/// with its last user, even after kill -9.
class SharedFile {
public:
    /// A file of `bytes` zeros; memory is used only for what is touched. The descriptor is inherited by started
    /// programs.
    static Result<SharedFile> create(std::size_t bytes);
    /// Uses an inherited descriptor. It stays open, so that a second, mistaken use of it does not close it for the
    /// first.
    static SharedFile adopt(int descriptor) { return SharedFile(descriptor, false); }

    SharedFile(SharedFile&& other) noexcept;
    SharedFile& operator=(SharedFile&& other) noexcept;
    ~SharedFile();

    int descriptor() const { return descriptor_; }
    Result<std::size_t> size() const;

private:
    SharedFile(int descriptor, bool owned) : descriptor_(descriptor), owned_(owned) {}
    int descriptor_ = -1;
    bool owned_ = false;
};

/// A shared mapping of a whole file.
class Mapping {
public:
    static Result<Mapping> of(const SharedFile& file);

    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    Mapping(std::byte* data, std::size_t size) : data_(data), size_(size) {}
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Private memory that reads as zeros and uses no memory until it is written; null if there is not enough address
/// space.
std::byte* reserve_zeros(std::size_t bytes);
void release_zeros(std::byte* memory, std::size_t bytes);

/// Lets the kernel use huge pages for memory that will be used densely. This is advice, so a failure is not an error.
void advise_huge_pages(std::byte* memory, std::size_t bytes);

/// Leaves memory out of core dumps. This is advice, so a failure is not an error.
void exclude_from_dumps(std::byte* memory, std::size_t bytes);

/// Bytes of a file that are not a hole.
struct DataRun {
    std::size_t begin, end;
};
/// The first run from `begin` on, cut off at `end`; begins at `end` if there is none.
DataRun next_data(int descriptor, std::size_t begin, std::size_t end);

/// Makes pages of a shared mapping zeros again and gives their memory back.
void discard(std::byte* memory, std::size_t bytes);

/// The same for a part of what reserve_zeros() returned.
void discard_private(std::byte* memory, std::size_t bytes);

/// Calls each(begin, end) for the runs of a part of a file in memory that somebody has touched. The runs consist of
/// whole pages, which may be huge ones where the system is told to use them.
template <class Each>
void find_data(int descriptor, std::size_t begin, std::size_t bytes, Each each) {
    const std::size_t end = begin + bytes;
    for (DataRun run = next_data(descriptor, begin, end); run.begin < end; run = next_data(descriptor, run.end, end))
        each(run.begin, run.end);
}

/// Prevents pages from being paged out.
Result<> pin(std::byte* memory, std::size_t bytes);
/// Lets pages be paged out again; the system does not discard pinned pages.
void unpin(std::byte* memory, std::size_t bytes);

} // namespace kumiki::platform
