#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "error/result.hpp"

namespace kumiki::platform {

inline constexpr std::size_t cache_line = 64;

/// The distance between two words that different cores write: the processor fetches cache lines in pairs.
inline constexpr std::size_t apart = 128;

/// The length of a page, of those that are not huge.
std::size_t page_size();
/// No machine has smaller ones. Layouts that are to be the same at every rank put data in pages of their own by it;
/// where pages are larger, neighbours may share one.
inline constexpr std::size_t smallest_page = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// Bytes of physical memory of this host.
std::size_t physical_memory();

/// Bytes of memory that this process can still get, by the host's reckoning or, where one is tighter, that of its
/// control groups. `root` is the folder that holds proc and sys.
std::size_t available_memory(const std::filesystem::path& root = "/");

/// Random bits from the system, for names that must differ.
std::uint64_t random_number();

/// A file without a name that lives in memory: processes share it by passing on its descriptor, and it is gone when its
/// last holder is gone, even by kill -9.
class SharedFile {
public:
    /// A file of `bytes` zeros; memory is used only for what is touched. The descriptor is inherited by started
    /// programs.
    static Result<SharedFile> create(std::size_t bytes);
    /// Uses a descriptor that was inherited. It stays open, so that a second, mistaken use of it does not close it for
    /// the first.
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

/// Private memory that reads as zeros and uses none before it is written; null when there is not enough address space.
std::byte* reserve_zeros(std::size_t bytes);
void release_zeros(std::byte* memory, std::size_t bytes);

/// Lets the kernel use huge pages for memory that will be used densely. This is advice: it is no error when it fails.
void advise_huge_pages(std::byte* memory, std::size_t bytes);

/// Leaves memory out of core dumps. This is advice: it is no error when it fails.
void exclude_from_dumps(std::byte* memory, std::size_t bytes);

/// Makes pages of a shared mapping zeros again and gives their memory back.
void discard(std::byte* memory, std::size_t bytes);

/// Keeps pages from being paged out.
Result<> pin(std::byte* memory, std::size_t bytes);
/// Lets pages be paged out again; the system discards no pinned pages.
void unpin(std::byte* memory, std::size_t bytes);

} // namespace kumiki::platform
