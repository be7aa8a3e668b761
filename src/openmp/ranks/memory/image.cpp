#include "openmp/ranks/memory/image.hpp"

#include <algorithm>
#include <elf.h>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "openmp/ranks/memory/objects.hpp"
#include "openmp/ranks/memory/own_libraries.hpp"
#include "platform/memory.hpp"

namespace kumiki::openmp {
namespace {

std::span<std::byte> data_of(const Object& object) {
    std::byte *begin = nullptr, *end = nullptr, *fixed = nullptr;
    for (const auto& segment : object.segments()) {
        std::byte* const from = object.address_of(segment.p_vaddr);
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) {
            if (begin == nullptr) begin = from;
            end = from + segment.p_memsz;
        }
        if (segment.p_type == PT_GNU_RELRO) fixed = from + segment.p_memsz;
    }
    // The dynamic linker has made only whole pages read-only.
    if (fixed != nullptr) {
        const auto page = static_cast<std::uintptr_t>(platform::page_size());
        begin = std::max(begin, reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(fixed) / page * page));
    }
    return begin == nullptr ? std::span<std::byte>{} : whole_pages(begin, end);
}

/// The parts of the object that are code, by the table in its file: what can be executed besides are often constants,
/// which may look like instructions. Without the table, all that can be executed.
std::vector<std::span<std::byte>> code_of(const Object& object) {
    std::vector<std::span<std::byte>> code;
    std::ifstream file(object.name().empty() ? "/proc/self/exe" : std::string(object.name()), std::ios::binary);
    ElfW(Ehdr) header{};
    if (file.read(reinterpret_cast<char*>(&header), sizeof header) && header.e_shentsize == sizeof(ElfW(Shdr))) {
        std::vector<ElfW(Shdr)> sections(header.e_shnum);
        file.seekg(static_cast<std::streamoff>(header.e_shoff));
        file.read(reinterpret_cast<char*>(sections.data()),
                  static_cast<std::streamsize>(sections.size() * sizeof(ElfW(Shdr))));
        for (const auto& section : sections)
            if (file && (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_EXECINSTR) != 0)
                code.emplace_back(object.address_of(section.sh_addr), section.sh_size);
    }
    if (!code.empty()) return code;
    std::ranges::copy(object.executable(), std::back_inserter(code));
    return code;
}

std::span<std::byte> initialized_of(const Object& object) {
    for (const auto& segment : object.segments())
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0)
            return {object.address_of(segment.p_vaddr), segment.p_filesz};
    return {};
}

/// FNV-1a.
void add(std::uint64_t& hash, const void* bytes, std::size_t count) {
    for (const auto* at = static_cast<const unsigned char*>(bytes); count > 0; ++at, --count)
        hash = (hash ^ *at) * 0x100000001b3;
}

/// Where an object lies, what its segments are, and its build-id among its notes.
void add(std::uint64_t& hash, const Object& object) {
    const std::byte* const base = object.base();
    add(hash, &base, sizeof base);
    for (const auto& segment : object.segments()) {
        add(hash, &segment, sizeof segment);
        if (segment.p_type == PT_NOTE) add(hash, object.address_of(segment.p_vaddr), segment.p_memsz);
    }
}

constexpr std::string_view copying_functions[] = {"__kmpc_threadprivate_cached", "__kmpc_threadprivate"};
constexpr std::string_view functions_of_llvm[] = {"__kmpc_fork_call", "__kmpc_global_thread_num"};
constexpr std::string_view yielding_functions[] = {"sched_yield", "thrd_yield", "sleep",          "thrd_sleep",
                                                   "usleep",      "nanosleep",  "clock_nanosleep"};
constexpr std::string_view trying_functions[] = {
    "omp_test_lock",       "omp_test_lock_",        "omp_test_nest_lock",
    "omp_test_nest_lock_", "pthread_mutex_trylock", "pthread_mutex_timedlock",
    "mtx_trylock",         "mtx_timedlock",         "pthread_mutex_clocklock"};
constexpr std::string_view protecting_functions[] = {"mprotect"};
constexpr std::string_view task_functions[] = {"GOMP_task",        "GOMP_taskloop",   "GOMP_taskloop_ull",
                                               "__kmpc_omp_task",  "__kmpc_taskloop", "__kmpc_omp_task_with_deps",
                                               "__kmpc_taskloop_5"};

Image image_of(const Object& object) {
    Image image;
    image.base = object.base();
    image.data = data_of(object);
    image.initialized = initialized_of(object);
    image.copies_variables = object.uses_one_of(copying_functions);
    image.of_libraries = object.variables_of_libraries();
    image.slots = object.slots_of_calls();
    std::erase_if(image.slots, [&data = image.data](const std::byte* slot) {
        return slot < data.data() || slot >= data.data() + data.size(); // these have become read-only
    });
    for (const auto& segment : object.segments()) {
        if (segment.p_type == PT_LOAD) image.segments.emplace_back(object.address_of(segment.p_vaddr), segment.p_memsz);
        if (segment.p_type == PT_GNU_EH_FRAME) image.unwinding = object.address_of(segment.p_vaddr);
    }
    if (object.uses_one_of(functions_of_llvm)) image.unwinding = nullptr;
    image.code = code_of(object);
    image.tries_locks = object.uses_one_of(trying_functions);
    image.makes_code = object.uses_one_of(protecting_functions);
    image.makes_tasks = object.uses_one_of(task_functions);
    image.yields = object.uses_one_of(yielding_functions);
    return image;
}

} // namespace

Program find_program(std::string_view libraries) {
    Program program;
    program.layout = 0xcbf29ce484222325;
    for (const Object& object : loaded_objects()) add(program.layout, object);
    for (const Object& object : objects_of_program(libraries)) program.images.push_back(image_of(object));
    return program;
}

bool Program::has(const Object& object) const {
    return std::ranges::find(images, object.base(), &Image::base) != images.end();
}

std::vector<Object> other_libraries(const Program& program) {
    std::vector<Object> found = loaded_objects();
    std::erase_if(found, [&program](const Object& each) { return program.has(each) || !may_be_shared(each); });
    return found;
}

Callers::Callers(const Program& program) {
    for (const Object& object : loaded_objects()) {
        const auto is_one_of = [&object](std::initializer_list<std::string_view> names) {
            return std::ranges::any_of(names, [&](auto each) { return object.name().find(each) != each.npos; });
        };
        const bool is_this = object.executes(reinterpret_cast<const void*>(&find_program));
        if (program.has(object) || is_one_of({"/libstdc++.so", "/libgfortran.so"}))
            std::ranges::copy(object.executable(), std::back_inserter(program_));
        else if (is_this || is_one_of({"/libc.so", "/libpthread.so"}))
            std::ranges::copy(object.executable(), std::back_inserter(callers_of_program_));
        else if (may_be_shared(object) && !is_about_process(object))
            std::ranges::copy(object.executable(), std::back_inserter(apart_));
    }
}

} // namespace kumiki::openmp
