#include "openmp/ranks/code/function_calls.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

#include "openmp/ranks/code/functions.hpp"

namespace kumiki::openmp {
namespace {

/// Whether other objects may call it by its name.
bool is_exported(const std::byte* function) {
    Dl_info found{};
    return dladdr(function, &found) != 0 && found.dli_saddr == function;
}

constexpr std::byte near_call{0xe8}; ///< with a distance of four bytes (Intel 64 and IA-32 manual, volume 2)
constexpr std::size_t most_calls = 64;

} // namespace

const FunctionCalls::Calls& FunctionCalls::of(const std::byte* instruction) {
    const std::byte* const function = begin_of_function(instruction);
    const auto [found, is_new] = known_.try_emplace(function);
    if (is_new && function != nullptr && !is_exported(function)) found->second = search(function);
    return found->second;
}

/// Every four bytes that lead to the function from behind them, or are its address, may be an operand that names it.
FunctionCalls::Calls FunctionCalls::search(const std::byte* function) const {
    if (has_pointer_to(function)) return {};
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    std::vector<std::byte*> calls;
    for (const std::span<std::byte> code : image_.code)
        for (std::size_t place = 1; place + sizeof(std::int32_t) <= code.size(); ++place) {
            std::int32_t operand = 0;
            std::memcpy(&operand, &code[place], sizeof operand);
            const bool leads = &code[place] + sizeof operand + operand == function;
            if (!leads && static_cast<std::uint32_t>(operand) != address) continue;
            if (!leads || code[place - 1] != near_call || calls.size() == most_calls) return {};
            calls.push_back(&code[place - 1]);
        }
    return calls.empty() ? Calls() : calls;
}

bool FunctionCalls::has_pointer_to(const std::byte* function) const {
    return std::ranges::any_of(image_.segments, [function](std::span<std::byte> segment) {
        for (std::size_t place = 0; place + sizeof function <= segment.size(); place += sizeof function)
            if (std::memcmp(&segment[place], &function, sizeof function) == 0) return true;
        return false;
    });
}

} // namespace kumiki::openmp
