#include "openmp/ranks/code/search_cache.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "openmp/ranks/memory/objects.hpp"
#include "platform/hardware.hpp"
#include "settings/user_folder.hpp"

namespace kumiki::openmp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t short_search = std::size_t{1} << 16; ///< bytes of code
constexpr std::size_t most_files = 1000;

/// Empty: there is none.
fs::path folder() {
    const fs::path own = user_folder(environ, "XDG_CACHE_HOME", ".cache");
    return own.is_absolute() ? own / "code" : fs::path();
}

std::uint64_t hash_of(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }
std::string_view bytes_of(std::span<const std::byte> memory) {
    return {reinterpret_cast<const char*>(memory.data()), memory.size()};
}

/// Of the code of this library, which makes the findings.
std::uint64_t own_hash() {
    static const std::uint64_t own = [] {
        const auto* const here = reinterpret_cast<const std::byte*>(&bytes_of);
        for (const Object& object : loaded_objects())
            for (const auto& segment : object.segments()) {
                const std::span<const std::byte> memory{object.address_of(segment.p_vaddr), segment.p_memsz};
                if (segment.p_type == PT_LOAD && here >= memory.data() && here < memory.data() + memory.size())
                    return hash_of(bytes_of(memory));
            }
        return std::uint64_t{0};
    }();
    return own;
}

struct Head {
    std::uint64_t findings, slots;
    std::uint64_t hash; ///< of what follows
};

template <class Item>
void append(std::string& bytes, std::span<const Item> items) {
    bytes += bytes_of(std::as_bytes(items));
}

template <class Item>
std::vector<Item> taken(std::string_view& bytes, std::size_t count) {
    std::vector<Item> items(count);
    if (count != 0) std::memcpy(static_cast<void*>(items.data()), bytes.data(), count * sizeof(Item));
    bytes.remove_prefix(count * sizeof(Item));
    return items;
}

/// A file of another user could let this process execute anything.
bool is_own(const fs::path& file) {
    struct stat found{};
    return stat(file.c_str(), &found) == 0 && found.st_uid == geteuid();
}

/// Leaves those that were used last.
void forget_oldest(const fs::path& folder) {
    std::error_code error;
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, error))
        files.emplace_back(each.last_write_time(error), each.path());
    if (files.size() <= most_files) return;
    std::ranges::sort(files);
    for (std::size_t each = 0; each < files.size() - most_files; ++each) fs::remove(files[each].second, error);
}

} // namespace

SearchCache::SearchCache(const Image& image) {
    std::size_t bytes = 0;
    for (const auto& code : image.code) bytes += code.size();
    const fs::path folder = openmp::folder();
    if (bytes < short_search || folder.empty()) return;
    std::vector<std::uint64_t> parts{own_hash(), ZydisGetVersion(), reinterpret_cast<std::uintptr_t>(image.base),
                                     reinterpret_cast<std::uintptr_t>(image.data.data()), image.data.size()};
    for (const auto& memory : image.code) {
        parts.push_back(reinterpret_cast<std::uintptr_t>(memory.data()));
        parts.push_back(memory.size());
        parts.push_back(hash_of(bytes_of(memory)));
    }
    file_ = folder / fmt::format("{:016x}", hash_of(bytes_of(std::as_bytes(std::span(parts)))));
}

std::optional<std::vector<Finding>> SearchCache::read() const {
    if (file_.empty() || !is_own(file_)) return {};
    std::ifstream file(file_, std::ios::binary);
    const std::string contents{std::istreambuf_iterator<char>(file), {}};
    std::string_view rest = contents;
    if (rest.size() < sizeof(Head)) return {};
    const Head head = taken<Head>(rest, 1).front();
    if (head.hash != hash_of(rest) || head.findings > rest.size() || head.slots > rest.size() ||
        rest.size() != head.findings * sizeof(Finding) + head.slots * sizeof(WaitingCalls::Slot))
        return {};
    auto findings = taken<Finding>(rest, head.findings);
    const auto slots = taken<WaitingCalls::Slot>(rest, head.slots);
    if (!std::ranges::all_of(slots, &WaitingCalls::is_still_true)) return {};
    std::error_code error;
    fs::last_write_time(file_, fs::file_time_type::clock::now(), error);
    return findings;
}

void SearchCache::keep(std::span<const Finding> found, std::span<const WaitingCalls::Slot> slots) const {
    if (file_.empty()) return;
    std::string bytes;
    append(bytes, found);
    append(bytes, slots);
    const Head head{found.size(), slots.size(), hash_of(bytes)};
    std::error_code error;
    fs::create_directories(file_.parent_path(), error);
    // Another process may write the same file, even one of another host.
    fs::path whole = file_;
    whole += fmt::format(".{}.{}", platform::host_name(), getpid());
    std::ofstream file(whole, std::ios::binary);
    file << bytes_of(std::as_bytes(std::span(&head, 1))) << bytes;
    file.close();
    if (file) fs::rename(whole, file_, error);
    else fs::remove(whole, error);
    forget_oldest(file_.parent_path());
}

} // namespace kumiki::openmp
