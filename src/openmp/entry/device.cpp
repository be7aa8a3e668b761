#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "openmp/entry/entry.hpp"
#include "openmp/team.hpp"

/// Entry points of target constructs. There is no device but this host: target regions run here, on the program's own
/// data, so mapping data is nothing.
using namespace kumiki::openmp;

namespace {

using Body = void (*)(void*);

constexpr int this_host = 0; ///< the number of the initial device: behind the last of no devices
constexpr int map_firstprivate = 0x0c, map_attach = 0x50; // kinds
constexpr int any_dimensions = 0x7fffffff;                ///< what omp_target_memcpy_rect() without arrays returns

bool is_host(int device) {
    if (device == default_device) device = self().task->controls.default_device;
    return device == this_host || device == initial_device || device == -2;
}

int as_limit(std::uintptr_t number) { return static_cast<int>(std::min<std::uintptr_t>(number, no_limit)); }

/// Ends the process if a target construct must not run on this host, which `device`, as the compiler passes it, and
/// OMP_TARGET_OFFLOAD say.
void need_host(int device) {
    constexpr int of_control_variable = -1, this_host_by_compiler = -2;
    const bool is_default = device == of_control_variable || device == default_device;
    if (is_default) device = self().task->controls.default_device;
    if (device == this_host || device == (is_default ? initial_device : this_host_by_compiler)) return;
    if (process().environment().needs_device())
        refuse(
            "OMP_TARGET_OFFLOAD is mandatory, but there is no device but this host, on which target constructs of this "
            "runtime run; set it to default, or leave it out");
    if (device == invalid_device) refuse("a target construct names the device omp_invalid_device");
}

/// The thread of a target region is an initial thread: its teams are not inside those of the thread that waits, and its
/// control variables are what the environment says. It stays where that thread is.
class TargetThread {
public:
    explicit TargetThread(int thread_limit = 0) : before_(self()), team_(process().environment().controls, &before_) {
        the_member = &team_.member(0);
        the_member->place = before_.place;
        if (thread_limit != 0) the_member->task->controls.thread_limit = thread_limit;
    }
    ~TargetThread() { the_member = &before_; }
    TargetThread(const TargetThread&) = delete;
    TargetThread& operator=(const TargetThread&) = delete;

private:
    Member& before_;
    Team team_;
};

/// Variables that are firstprivate in the region are copied; `kinds` says which, and their alignment (its logarithm).
/// Behind one that is the data of an array of Fortran (GCC 13) is an entry with the address of the pointer to the
/// array's descriptor among `addresses`, and the place in the descriptor, in words, where the copy's address belongs.
class Copies {
public:
    Copies(std::size_t count, void** addresses, const std::size_t* sizes, const unsigned short* kinds)
        : addresses_(addresses, addresses + count) {
        for (std::size_t i = 0; i < count; ++i) {
            // An optional argument of Fortran that is absent has no address.
            if ((kinds[i] & 0xff) != map_firstprivate || addresses[i] == nullptr) continue;
            const std::size_t alignment = std::max<std::size_t>(std::size_t{1} << (kinds[i] >> 8), sizeof(void*));
            void* const copy = program_memory(sizes[i] + 1, alignment);
            if (copy == nullptr) refuse(fmt::format("there is no memory for a variable of {} bytes", sizes[i]));
            std::memcpy(copy, addresses[i], sizes[i]);
            addresses_[i] = copy;
            owned_.emplace_back(copy, &std::free);
            if (i + 1 < count && (kinds[i + 1] & 0xff) == map_attach) {
                const auto descriptor = static_cast<void**>(addresses[i + 1]) - addresses;
                static_cast<void**>(addresses_[static_cast<std::size_t>(descriptor)])[sizes[i + 1]] = copy;
            }
        }
    }
    void** addresses() { return addresses_.data(); }

private:
    std::vector<void*> addresses_;
    std::vector<std::unique_ptr<void, void (*)(void*)>> owned_;
};

/// The thread_limit clause in what the compiler passes of a target construct's clauses; 0: none. Each is a word with
/// the device in its lowest bits (0: all devices), the kind of the clause above, and above that the value, unless a
/// flag says that the value is the next word. A null pointer ends them.
int thread_limit_in(void** clauses) {
    constexpr std::uintptr_t device = 0x7f, value_follows = 0x80, kind = 0xff00, thread_limit = 0x200;
    constexpr unsigned value_shift = 16;
    while (clauses != nullptr && *clauses != nullptr) {
        const auto word = reinterpret_cast<std::uintptr_t>(*clauses++);
        const auto value =
            (word & value_follows) != 0 ? reinterpret_cast<std::uintptr_t>(*clauses++) : word >> value_shift;
        if ((word & device) == 0 && (word & kind) == thread_limit) return as_limit(value);
    }
    return 0;
}

using Work = std::function<void()>;

void run_unless_cancelled(void* data) {
    auto* const work = static_cast<Work*>(data);
    const Member& me = self();
    if (!is_cancelled(me, *me.task)) (*work)();
    work->~Work();
}

/// A task that does `work` when those have ended that the dependences name, so that its creator need not wait.
void run_after(const std::vector<Dependence>& dependences, Work work) {
    create_task(self(), {.function = &run_unless_cancelled,
                         .data = &work,
                         .copy = [](void* to, void* from) { new (to) Work(std::move(*static_cast<Work*>(from))); },
                         .size = sizeof work,
                         .alignment = alignof(Work),
                         .deferrable = true,
                         .final = false,
                         .dependences = &dependences,
                         .event = nullptr,
                         .stays = true});
}

/// A target construct: with nowait and dependences a task, and otherwise at once.
void run_construct(unsigned flags, void** dependences, Work work) {
    constexpr unsigned nowait = 1;
    if (dependences == nullptr) return work();
    const auto read = read_dependences(dependences);
    if ((flags & nowait) != 0) return run_after(read, std::move(work));
    wait_for_dependences(self(), read);
    work();
}

/// Does `work` after the tasks that `count` depend objects name, if there are any.
void run_after_objects(int count, void** objects, Work work) {
    if (count <= 0 || objects == nullptr) return work();
    std::vector<void*> array{nullptr, reinterpret_cast<void*>(static_cast<std::uintptr_t>(count)), nullptr, nullptr,
                             nullptr}; // in the compiler's format, see read_dependences()
    constexpr int words_of_object = 2;
    for (int i = 0; i < count; ++i) array.push_back(static_cast<void*>(objects + words_of_object * i));
    run_after(read_dependences(array.data()), std::move(work));
}

int copy_box(std::byte* to, const std::byte* from, std::size_t element, int dimensions, const std::size_t* volume,
             const std::size_t* to_offset, const std::size_t* from_offset, const std::size_t* to_size,
             const std::size_t* from_size) {
    if (dimensions == 1) {
        std::memcpy(to + to_offset[0] * element, from + from_offset[0] * element, volume[0] * element);
        return 0;
    }
    std::size_t to_slice = element, from_slice = element;
    for (int i = 1; i < dimensions; ++i) {
        to_slice *= to_size[i];
        from_slice *= from_size[i];
    }
    for (std::size_t i = 0; i < volume[0]; ++i)
        copy_box(to + (to_offset[0] + i) * to_slice, from + (from_offset[0] + i) * from_slice, element, dimensions - 1,
                 volume + 1, to_offset + 1, from_offset + 1, to_size + 1, from_size + 1);
    return 0;
}

} // namespace

KUMIKI_ENTRY void GOMP_target(int device, Body body, const void*, std::size_t, void** addresses, std::size_t*,
                              unsigned char*) {
    need_host(device);
    const TargetThread thread;
    body(addresses);
}
KUMIKI_ENTRY void GOMP_target_ext(int device, Body body, std::size_t count, void** addresses, std::size_t* sizes,
                                  unsigned short* kinds, unsigned flags, void** dependences, void** clauses) {
    need_host(device);
    // The variables have now the values that count, and the arrays may be gone later.
    const auto copies = std::make_shared<Copies>(count, addresses, sizes, kinds);
    const int limit = thread_limit_in(clauses);
    run_construct(flags, dependences, [=] {
        const TargetThread thread(limit);
        body(copies->addresses());
    });
}
KUMIKI_ENTRY void GOMP_target_data(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
    need_host(device);
}
KUMIKI_ENTRY void GOMP_target_data_ext(int device, std::size_t, void**, std::size_t*, unsigned short*) {
    need_host(device);
}
KUMIKI_ENTRY void GOMP_target_end_data() {}
KUMIKI_ENTRY void GOMP_target_update(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
    need_host(device);
}
KUMIKI_ENTRY void GOMP_target_update_ext(int device, std::size_t, void**, std::size_t*, unsigned short*, unsigned flags,
                                         void** dependences) {
    need_host(device);
    run_construct(flags, dependences, [] {});
}
KUMIKI_ENTRY void GOMP_target_enter_exit_data(int device, std::size_t, void**, std::size_t*, unsigned short*,
                                              unsigned flags, void** dependences) {
    need_host(device);
    run_construct(flags, dependences, [] {});
}
/// `made` and `destroyed`: addresses of interoperability objects. There are none for this host (interop.cpp).
KUMIKI_ENTRY void GOMP_interop(int device, int makes, void** made, const void*, const void*, int, void*, int destroys,
                               void** destroyed, unsigned flags, void** dependences) {
    need_host(device);
    const auto set_none = [](void** objects, int count) {
        for (int i = 0; i < count; ++i) *static_cast<std::uintptr_t*>(objects[i]) = 0;
    };
    set_none(made, makes);
    set_none(destroyed, destroys);
    run_construct(flags, dependences, [] {});
}
/// A pointer to a function of a device is the pointer to that of the host.
KUMIKI_ENTRY void* GOMP_target_map_indirect_ptr(void* function) { return function; }
KUMIKI_ENTRY void GOMP_offload_register(const void*, int, const void*) {}
KUMIKI_ENTRY void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
KUMIKI_ENTRY void GOMP_offload_unregister(const void*, int, const void*) {}
KUMIKI_ENTRY void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

// The next two are called inside a target region; their limit ends with it.
KUMIKI_ENTRY void GOMP_teams(unsigned, unsigned limit) {
    if (limit != 0) self().task->controls.thread_limit = as_limit(limit);
}
KUMIKI_ENTRY bool GOMP_teams4(unsigned least, unsigned most, unsigned limit, bool first) {
    Controls& controls = self().task->controls;
    if (first) {
        if (limit != 0) controls.thread_limit = as_limit(limit);
        controls.last_team = std::max(most != 0 ? most : least, 1U) - 1;
        controls.team_number = 0;
        return true;
    }
    if (controls.team_number == controls.last_team) return false;
    ++controls.team_number;
    return true;
}
/// The teams of a league on the host run one after the other.
KUMIKI_ENTRY void GOMP_teams_reg(Body body, void* data, unsigned teams, unsigned limit, unsigned) {
    Controls& controls = self().task->controls;
    const Controls before = controls;
    if (limit == 0) limit = static_cast<unsigned>(std::max(controls.teams_thread_limit, 0));
    if (limit != 0) controls.thread_limit = as_limit(limit);
    if (teams == 0) teams = static_cast<unsigned>(process().environment().num_teams);
    constexpr unsigned by_default = 3;
    controls.last_team = (teams == 0 ? by_default : teams) - 1;
    for (controls.team_number = 0; controls.team_number <= controls.last_team; ++controls.team_number) body(data);
    controls = before;
}

#define KUMIKI_DEVICE_GET(name, value)                                                                                 \
    KUMIKI_ENTRY int omp_##name() { return value; }                                                                    \
    KUMIKI_ENTRY int omp_##name##_() { return value; }
KUMIKI_DEVICE_GET(get_num_devices, 0)
KUMIKI_DEVICE_GET(get_initial_device, this_host)
KUMIKI_DEVICE_GET(get_device_num, this_host)
KUMIKI_DEVICE_GET(is_initial_device, 1)
KUMIKI_DEVICE_GET(get_default_device, self().task->controls.default_device)
KUMIKI_DEVICE_GET(get_num_teams, static_cast<int>(self().task->controls.last_team) + 1)
KUMIKI_DEVICE_GET(get_team_num, static_cast<int>(self().task->controls.team_number))
KUMIKI_ENTRY void omp_set_default_device(int device) { self().task->controls.default_device = device; }
KUMIKI_ENTRY void omp_set_default_device_(const std::int32_t* device) { omp_set_default_device(*device); }
KUMIKI_ENTRY void omp_set_default_device_8_(const std::int64_t* device) {
    omp_set_default_device(static_cast<int>(*device));
}

KUMIKI_ENTRY void* omp_target_alloc(std::size_t size, int device) {
    return is_host(device) ? program_memory(size) : nullptr;
}
KUMIKI_ENTRY void omp_target_free(void* memory, int) { std::free(memory); }
KUMIKI_ENTRY int omp_target_is_present(const void* pointer, int device) {
    return pointer == nullptr || is_host(device) ? 1 : 0;
}
KUMIKI_ENTRY int omp_target_is_accessible(const void*, std::size_t, int device) { return is_host(device) ? 1 : 0; }
KUMIKI_ENTRY void* omp_get_mapped_ptr(const void* pointer, int device) {
    return is_host(device) ? const_cast<void*>(pointer) : nullptr;
}
KUMIKI_ENTRY int omp_target_memcpy(void* to, const void* from, std::size_t size, std::size_t to_offset,
                                   std::size_t from_offset, int to_device, int from_device) {
    if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
    std::memmove(static_cast<std::byte*>(to) + to_offset, static_cast<const std::byte*>(from) + from_offset, size);
    return 0;
}
KUMIKI_ENTRY int omp_target_memcpy_async(void* to, const void* from, std::size_t size, std::size_t to_offset,
                                         std::size_t from_offset, int to_device, int from_device, int count,
                                         void** objects) {
    if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
    run_after_objects(count, objects,
                      [=] { omp_target_memcpy(to, from, size, to_offset, from_offset, to_device, from_device); });
    return 0;
}
KUMIKI_ENTRY void* omp_target_memset(void* memory, int value, std::size_t size, int device) {
    return is_host(device) ? std::memset(memory, value, size) : nullptr;
}
KUMIKI_ENTRY void* omp_target_memset_async(void* memory, int value, std::size_t size, int device, int count,
                                           void** objects) {
    if (!is_host(device)) return nullptr;
    run_after_objects(count, objects, [=] { std::memset(memory, value, size); });
    return memory;
}
KUMIKI_ENTRY int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions,
                                        const std::size_t* volume, const std::size_t* to_offset,
                                        const std::size_t* from_offset, const std::size_t* to_size,
                                        const std::size_t* from_size, int to_device, int from_device) {
    if (to == nullptr && from == nullptr) return any_dimensions;
    if (dimensions < 1 || !is_host(to_device) || !is_host(from_device)) return EINVAL;
    return copy_box(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), element, dimensions, volume,
                    to_offset, from_offset, to_size, from_size);
}
KUMIKI_ENTRY int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element, int dimensions,
                                              const std::size_t* volume, const std::size_t* to_offset,
                                              const std::size_t* from_offset, const std::size_t* to_size,
                                              const std::size_t* from_size, int to_device, int from_device, int count,
                                              void** objects) {
    if (to == nullptr && from == nullptr) return any_dimensions;
    if (dimensions < 1 || !is_host(to_device) || !is_host(from_device)) return EINVAL;
    const auto kept = [dimensions](const std::size_t* numbers) { // the arrays may be gone when the copy is made
        return std::vector<std::size_t>(numbers, numbers + dimensions);
    };
    run_after_objects(count, objects,
                      [=, volume = kept(volume), to_offset = kept(to_offset), from_offset = kept(from_offset),
                       to_size = kept(to_size), from_size = kept(from_size)] {
                          copy_box(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), element,
                                   dimensions, volume.data(), to_offset.data(), from_offset.data(), to_size.data(),
                                   from_size.data());
                      });
    return 0;
}
KUMIKI_ENTRY int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) { return EINVAL; }
KUMIKI_ENTRY int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }
KUMIKI_ENTRY int omp_pause_resource(int, int device) { return is_host(device) ? 0 : EINVAL; }
KUMIKI_ENTRY int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
    return omp_pause_resource(*kind, *device);
}
KUMIKI_ENTRY int omp_pause_resource_all(int) { return 0; }
KUMIKI_ENTRY int omp_pause_resource_all_(const std::int32_t*) { return 0; }
