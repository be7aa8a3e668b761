#include "platform/page_faults.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <utility>

namespace kumiki::platform {

std::byte* unused_addresses() {
#if defined(__SANITIZE_THREAD__)
    constexpr std::uintptr_t begin = 0x10'0000'0000; // ThreadSanitizer has its own use for the other one
#else
    constexpr std::uintptr_t begin = 0x2000'0000'0000;
#endif
    return reinterpret_cast<std::byte*>(begin);
}

Result<SecondMapping> SecondMapping::reserve(std::byte* at, std::size_t bytes, bool may_be_executed) {
    void* got = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED || got != at) {
        const int error = got == MAP_FAILED ? errno : EEXIST;
        if (got != MAP_FAILED) munmap(got, bytes); // a kernel before 4.17 takes the address as a wish
        return fail(KUMIKI_ERROR_MEMORY, fmt::format("the addresses from {} on, {} bytes, which a shared array would "
                                                     "have at every rank, are not free in this process (mmap: {})",
                                                     static_cast<void*>(at), bytes, std::strerror(error)));
    }
    return SecondMapping(at, bytes, may_be_executed);
}

Result<> SecondMapping::map(std::size_t offset, std::size_t bytes, int descriptor, std::size_t file_offset) {
    const int allowed = PROT_READ | PROT_WRITE | (may_be_executed_ ? PROT_EXEC : 0);
    void* got = mmap(data_ + offset, bytes, allowed, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor,
                     static_cast<off_t>(file_offset));
    if (got == MAP_FAILED)
        return fail(KUMIKI_ERROR_MEMORY,
                    fmt::format("cannot map {} bytes of a shared array (mmap: {})", bytes, std::strerror(errno)));
    // A child has neither the library's threads nor its place in the job; it could only read what is not up to date.
    madvise(got, bytes, MADV_DONTFORK);
    madvise(got, bytes, MADV_DONTDUMP);
    return {};
}

SecondMapping::SecondMapping(SecondMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(other.size_), may_be_executed_(other.may_be_executed_) {}

SecondMapping& SecondMapping::operator=(SecondMapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(may_be_executed_, other.may_be_executed_);
    return *this;
}

SecondMapping::~SecondMapping() {
    if (data_ != nullptr) munmap(data_, size_);
}

namespace {

class Protection final : public PageFaults {
public:
    explicit Protection(const SecondMapping& memory)
        : data_(memory.data()), readable_(PROT_READ | (memory.may_be_executed() ? PROT_EXEC : 0)) {}

    Result<> guard(std::size_t offset, std::size_t bytes) override {
        return change(offset, bytes, PageAccess::write, PageAccess::none);
    }
    Result<> watch(std::size_t, std::size_t) override { return {}; }
    Result<> follow(std::size_t, std::size_t) override { return {}; }

    Result<> change(std::size_t offset, std::size_t bytes, PageAccess, PageAccess to) override {
        const int allowed = to == PageAccess::none   ? PROT_NONE
                            : to == PageAccess::read ? readable_
                                                     : readable_ | PROT_WRITE;
        if (mprotect(data_ + offset, bytes, allowed) == 0) return {};
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("cannot protect pages of a shared array (mprotect: {}); give the array longer pages, "
                                "or raise the number of mappings of a process (sysctl vm.max_map_count)",
                                std::strerror(errno)));
    }

private:
    std::byte* data_;
    int readable_; ///< the protection of a page that may be read
};

} // namespace

std::unique_ptr<PageFaults> use_protection(const SecondMapping& second) { return std::make_unique<Protection>(second); }

} // namespace kumiki::platform
