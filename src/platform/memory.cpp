#include "platform/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "platform/control_group.hpp"

namespace kumiki::platform {
namespace {

std::string reason() { return std::strerror(errno); }

/// The number in a file of the system; nothing if there is no such file or it contains no number ("max").
std::optional<std::size_t> number_in(const std::filesystem::path& path) {
    std::size_t number = 0;
    if (std::ifstream(path) >> number) return number;
    return std::nullopt;
}

/// What is left of the limit of a control group, of either version; nothing if it sets none.
std::optional<std::size_t> left_in(const std::filesystem::path& group) {
    auto limit = number_in(group / "memory.max"), used = number_in(group / "memory.current");
    if (!limit || !used) {
        limit = number_in(group / "memory.limit_in_bytes");
        used = number_in(group / "memory.usage_in_bytes");
    }
    if (!limit || !used) return std::nullopt;
    return *limit - std::min(*limit, *used);
}

} // namespace

std::uint64_t random_number() {
    std::uint64_t number = 0;
    while (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {}
    return number;
}

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    return size;
}

std::size_t physical_memory() { return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_size(); }

std::size_t available_memory(const std::filesystem::path& root) {
    std::size_t available = physical_memory();
    std::ifstream information(root / "proc/meminfo");
    for (std::string name, rest; information >> name && std::getline(information, rest);)
        if (name == "MemAvailable:") available = std::stoull(rest) * 1024;
    for (const auto& group : control_groups("memory", root))
        available = std::min(available, left_in(group).value_or(available));
    return available;
}

Result<SharedFile> SharedFile::create(std::size_t bytes) {
    SharedFile file(memfd_create("kumiki", MFD_CLOEXEC), true);
    if (file.descriptor_ < 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot create shared memory (memfd_create: {})", reason()));
    // Above this limit a signal would end the process without a word.
    rlimit longest{};
    if (getrlimit(RLIMIT_FSIZE, &longest) == 0 && bytes > longest.rlim_cur)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("cannot reserve {} bytes of shared memory, as files may have {} bytes here; raise that "
                                "(ulimit -f unlimited)",
                                bytes, longest.rlim_cur));
    if (ftruncate(file.descriptor_, static_cast<off_t>(bytes)) != 0)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("cannot reserve {} bytes of shared memory (ftruncate: {}); KUMIKI_ARENA sets how much "
                                "each rank reserves",
                                bytes, reason()));
    return file;
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), owned_(other.owned_) {}

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(owned_, other.owned_);
    return *this;
}

SharedFile::~SharedFile() {
    if (owned_ && descriptor_ >= 0) close(descriptor_);
}

Result<std::size_t> SharedFile::size() const {
    struct stat status{};
    if (fstat(descriptor_, &status) != 0)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("the shared memory of the job (file descriptor {}) cannot be used: {}; a "
                                "program between the launcher and this one may have closed it",
                                descriptor_, reason()));
    return static_cast<std::size_t>(status.st_size);
}

Result<Mapping> Mapping::of(const SharedFile& file) {
    const auto size = file.size();
    if (!size) return tl::unexpected(size.error());
    void* memory = mmap(nullptr, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.descriptor(), 0);
    if (memory == MAP_FAILED)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("cannot map {} bytes of shared memory (mmap: {}); raise the limit of address space "
                                "(ulimit -v unlimited) or set a smaller KUMIKI_ARENA",
                                *size, reason()));
    return Mapping(static_cast<std::byte*>(memory), *size);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Mapping::~Mapping() {
    if (data_ != nullptr) munmap(data_, size_);
}

std::byte* reserve_zeros(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void release_zeros(std::byte* memory, std::size_t bytes) { munmap(memory, bytes); }

void advise_huge_pages(std::byte* memory, std::size_t bytes) { madvise(memory, bytes, MADV_HUGEPAGE); }

void exclude_from_dumps(std::byte* memory, std::size_t bytes) { madvise(memory, bytes, MADV_DONTDUMP); }

DataRun next_data(int descriptor, std::size_t begin, std::size_t end) {
    // The file's offset is nobody's: the file is only mapped.
    const off_t data = begin < end ? lseek(descriptor, static_cast<off_t>(begin), SEEK_DATA) : -1;
    if (data < 0 || static_cast<std::size_t>(data) >= end) return {end, end};
    const off_t hole = lseek(descriptor, data, SEEK_HOLE);
    return {static_cast<std::size_t>(data), hole < 0 ? end : std::min(static_cast<std::size_t>(hole), end)};
}

void discard(std::byte* memory, std::size_t bytes) { madvise(memory, bytes, MADV_REMOVE); }

void discard_private(std::byte* memory, std::size_t bytes) { madvise(memory, bytes, MADV_DONTNEED); }

Result<> pin(std::byte* memory, std::size_t bytes) {
    if (mlock(memory, bytes) != 0)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("cannot lock {} bytes in memory: {}; raise the limit (ulimit -l unlimited) or set "
                                "KUMIKI_PIN=no",
                                bytes, reason()));
    return {};
}

void unpin(std::byte* memory, std::size_t bytes) { munlock(memory, bytes); }

} // namespace kumiki::platform
