#include "openmp/ranks/process/constructors.hpp"

#include <algorithm>
#include <elf.h>
#include <ranges>
#include <span>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include "openmp/ranks/memory/objects.hpp"
#include "openmp/ranks/memory/own_libraries.hpp"

namespace kumiki::openmp {
namespace {

using Function = void (*)(int, char**, char**);

struct Held {
    Object library;
    Function first; ///< null: there is none
    std::span<const Function> constructors;
};
/// In the order in which they run. A variable of the process, because it is filled before any object is there.
constinit std::vector<Held> held; // NOLINT: see above

/// An entry that the linker has made read-only, for this to be changed; null: it does not exist, or stays so.
ElfW(Dyn) * changeable(const Object& object, ElfW(Sxword) tag) {
    auto* const entry = const_cast<ElfW(Dyn)*>(object.entry_of(tag));
    if (entry == nullptr) return nullptr;
    auto* const begin = reinterpret_cast<std::byte*>(entry);
    const std::span<std::byte> pages = whole_pages(begin, begin + sizeof *entry);
    return mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE) == 0 ? entry : nullptr;
}

/// A table of functions of the object, which the dynamic linker takes for empty from now on.
std::span<const Function> take_table(const Object& object, ElfW(Sxword) table, ElfW(Sxword) bytes) {
    const auto* const entry = object.entry_of(table);
    auto* const length = entry != nullptr ? changeable(object, bytes) : nullptr;
    if (length == nullptr) return {};
    const auto* const functions = reinterpret_cast<const Function*>(object.address_of(entry->d_un.d_ptr));
    return {functions, std::exchange(length->d_un.d_val, 0) / sizeof(Function)};
}

void do_nothing(int, char**, char**) {}

/// A function of the object that is in no table, as compilers without tables have it; the dynamic linker calls another
/// one from now on. Null: it has none.
Function take_function(const Object& object, ElfW(Sxword) tag) {
    auto* const entry = changeable(object, tag);
    if (entry == nullptr) return nullptr;
    const auto other = static_cast<ElfW(Addr)>(reinterpret_cast<std::byte*>(do_nothing) - object.base());
    return reinterpret_cast<Function>(object.address_of(std::exchange(entry->d_un.d_ptr, other)));
}

/// The program's own libraries, each behind those that it needs.
std::vector<Object> own_libraries(std::string_view named) {
    std::vector<Object> left = objects_of_program(named), ordered;
    left.erase(left.begin());
    std::ranges::reverse(left); // mostly right, because the linker loads what a library needs after it
    while (!left.empty()) {
        const auto is_last = [&left](const Object& object) {
            return std::ranges::none_of(
                left, [&object](const Object& other) { return !(other == object) && object.needs(other); });
        };
        auto next = std::ranges::find_if(left, is_last);
        if (next == left.end()) next = left.begin(); // they need each other
        ordered.push_back(*next);
        left.erase(next);
    }
    return ordered;
}

/// The last one first.
void run_destructors(const Object& object) {
    for (const Function function : take_table(object, DT_FINI_ARRAY, DT_FINI_ARRAYSZ) | std::views::reverse)
        reinterpret_cast<void (*)()>(function)();
    if (const Function last = take_function(object, DT_FINI)) reinterpret_cast<void (*)()>(last)();
}

} // namespace

void hold_constructors(std::string_view libraries) {
    for (const Object& library : own_libraries(libraries))
        held.push_back({library, take_function(library, DT_INIT), take_table(library, DT_INIT_ARRAY, DT_INIT_ARRAYSZ)});
}

void run_held_constructors(int count, char** arguments, char** environment) {
    for (const Held& each : held) {
        if (each.first != nullptr) each.first(count, arguments, environment);
        for (const Function function : each.constructors) function(count, arguments, environment);
    }
}

void run_program_destructors() {
    run_destructors(loaded_objects().front());
    for (const Held& each : held | std::views::reverse) run_destructors(each.library);
}

void run_destructors_of(std::string_view library) {
    for (const Object& object : loaded_objects())
        if (object.name().find(library) != library.npos) run_destructors(object);
}

} // namespace kumiki::openmp
