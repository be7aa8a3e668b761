#include "explain/callers.hpp"

#include <algorithm>
#include <array>
#include <link.h>
#include <string_view>
#include <unwind.h>

#include "platform/signal_sets.hpp"

namespace kumiki::explain {
namespace {

constexpr std::string_view library_names[] = {"/libc.so",        "/libm.so",     "/ld-linux",    "linux-vdso",
                                              "/libstdc++.so",   "/libgcc_s.so", "/libkumiki",   "/libgomp.so",
                                              "/libgfortran.so", "/libomp.so",   "/libiomp5.so", "/libpthread.so"};

struct Range {
    std::uintptr_t begin, end;
};
/// Written once, before handlers read it; a handler has no argument through which it could find an object.
struct Libraries {
    std::array<Range, 64> ranges;
    std::size_t count = 0;
};
Libraries libraries; // NOLINT: see above

bool is_library(std::uintptr_t address) {
    return std::any_of(libraries.ranges.begin(), libraries.ranges.begin() + libraries.count,
                       [address](const Range& each) { return address >= each.begin && address < each.end; });
}

int add_object(dl_phdr_info* object, std::size_t, void*) {
    const std::string_view name = object->dlpi_name;
    if (std::ranges::none_of(library_names, [name](auto each) { return name.find(each) != name.npos; })) return 0;
    Range range{~std::uintptr_t{0}, 0};
    for (int number = 0; number < object->dlpi_phnum; ++number) {
        const auto& segment = object->dlpi_phdr[number];
        if (segment.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
        range = {std::min(range.begin, begin), std::max(range.end, begin + segment.p_memsz)};
    }
    if (libraries.count < libraries.ranges.size()) libraries.ranges[libraries.count++] = range;
    return 0;
}

struct Walk {
    std::span<std::uint64_t> found;
    std::uintptr_t after; ///< the walk begins behind this instruction; 0: at once
    std::size_t count = 0;
    int frames = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    constexpr int most_frames = 48;
    Walk& walk = *static_cast<Walk*>(argument);
    if (++walk.frames > most_frames) return _URC_END_OF_STACK;
    int is_exact = 0; // as in the frame that a signal has interrupted; elsewhere it is where the call returns to
    const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_exact) - (is_exact != 0 ? 0 : 1);
    if (walk.after != 0) {
        if (address == walk.after) walk.after = 0;
        return _URC_NO_REASON;
    }
    if (is_library(address)) return _URC_NO_REASON;
    walk.found[walk.count++] = address;
    return walk.count < walk.found.size() ? _URC_NO_REASON : _URC_END_OF_STACK;
}

} // namespace

void find_libraries() {
    if (libraries.count != 0) return;
    dl_iterate_phdr(add_object, nullptr);
    std::uint64_t first[1];
    program_callers(first); // the unwinder prepares itself at its first use
}

/// The unwinder reads variables of the program that the compiler has made (those with the address of the C++ library's
/// function for exceptions), whose page may be absent: the fault that this function is called for may lead to another.
const void* in_program(const void* instruction) {
    [[gnu::tls_model("initial-exec")]] static thread_local bool walks = false;
    const auto address = reinterpret_cast<std::uintptr_t>(instruction);
    if (address == 0 || walks || !is_library(address)) return instruction;
    std::uint64_t found[1] = {};
    Walk walk{found, address};
    const platform::FaultsUnblocked unblocked;
    walks = true;
    _Unwind_Backtrace(visit, &walk);
    walks = false;
    return walk.count == 0 ? instruction : reinterpret_cast<const void*>(found[0]);
}

std::size_t program_callers(std::span<std::uint64_t> found) {
    Walk walk{found, 0};
    _Unwind_Backtrace(visit, &walk);
    return walk.count;
}

} // namespace kumiki::explain
