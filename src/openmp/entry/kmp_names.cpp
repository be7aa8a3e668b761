#include "openmp/entry/entry.hpp"

/// The names that programs of clang know: libomp's functions have the version VERSION, also those that gcc's programs
/// know by another version. Each such name is one jump to the function that has the other version. Only these differ:
/// clang's nestable lock is a word, which holds the address of the lock as in Fortran; and
/// the default schedule.
#if defined(__x86_64__)
#define KUMIKI_JUMP "jmp "
#define KUMIKI_BEHIND_JUMP "@PLT"
#elif defined(__aarch64__)
#define KUMIKI_JUMP "b "
#define KUMIKI_BEHIND_JUMP ""
#else
#error "the instruction that jumps to another function must be named for this processor"
#endif

#define KUMIKI_NAME_FOR(name, function)                                                                                \
    __asm__(".text\n"                                                                                                  \
            ".type kumiki_kmp_" #name ", %function\n"                                                                  \
            ".globl kumiki_kmp_" #name "\n"                                                                            \
            "kumiki_kmp_" #name ": " KUMIKI_JUMP #function KUMIKI_BEHIND_JUMP "\n"                                     \
            ".size kumiki_kmp_" #name ", . - kumiki_kmp_" #name "\n"                                                   \
            ".symver kumiki_kmp_" #name ", " #name "@VERSION, remove\n");
#define KUMIKI_NAME(name) KUMIKI_NAME_FOR(omp_##name, omp_##name)
// With the name for Fortran.
#define KUMIKI_NAMES(name) KUMIKI_NAME(name) KUMIKI_NAME(name##_)
#define KUMIKI_LOCK_NAMES(name, nest_name)                                                                             \
    KUMIKI_NAME_FOR(omp_##name, omp_##name)                                                                            \
    KUMIKI_NAME_FOR(omp_##name##_, omp_##name##_)                                                                      \
    KUMIKI_NAME_FOR(omp_##nest_name, omp_##nest_name##_)                                                               \
    KUMIKI_NAME_FOR(omp_##nest_name##_, omp_##nest_name##_)

KUMIKI_NAMES(capture_affinity)
KUMIKI_NAMES(destroy_allocator)
KUMIKI_NAMES(display_affinity)
KUMIKI_NAMES(display_env)
KUMIKI_NAMES(fulfill_event)
KUMIKI_NAMES(get_active_level)
KUMIKI_NAMES(get_affinity_format)
KUMIKI_NAMES(get_ancestor_thread_num)
KUMIKI_NAMES(get_cancellation)
KUMIKI_NAMES(get_default_allocator)
KUMIKI_NAMES(get_default_device)
KUMIKI_NAMES(get_device_num)
KUMIKI_NAMES(get_dynamic)
KUMIKI_NAMES(get_initial_device)
KUMIKI_NAMES(get_level)
KUMIKI_NAMES(get_max_active_levels)
KUMIKI_NAMES(get_max_task_priority)
KUMIKI_NAMES(get_max_teams)
KUMIKI_NAMES(get_max_threads)
KUMIKI_NAMES(get_nested)
KUMIKI_NAME(get_interop_int)
KUMIKI_NAME(get_interop_name)
KUMIKI_NAME(get_interop_ptr)
KUMIKI_NAME(get_interop_rc_desc)
KUMIKI_NAME(get_interop_str)
KUMIKI_NAME(get_interop_type_desc)
// libomp's names for Fortran are only other names of the same functions.
KUMIKI_NAME_FOR(omp_get_interop_int_, omp_get_interop_int)
KUMIKI_NAME_FOR(omp_get_interop_name_, omp_get_interop_name)
KUMIKI_NAME_FOR(omp_get_interop_ptr_, omp_get_interop_ptr)
KUMIKI_NAME_FOR(omp_get_interop_rc_desc_, omp_get_interop_rc_desc)
KUMIKI_NAME_FOR(omp_get_interop_str_, omp_get_interop_str)
KUMIKI_NAME_FOR(omp_get_interop_type_desc_, omp_get_interop_type_desc)
KUMIKI_NAMES(get_num_devices)
KUMIKI_NAME(get_num_interop_properties)
KUMIKI_NAME_FOR(omp_get_num_interop_properties_, omp_get_num_interop_properties)
KUMIKI_NAMES(get_num_places)
KUMIKI_NAMES(get_num_procs)
KUMIKI_NAMES(get_num_teams)
KUMIKI_NAMES(get_num_threads)
KUMIKI_NAMES(get_partition_num_places)
KUMIKI_NAMES(get_partition_place_nums)
KUMIKI_NAMES(get_place_num)
KUMIKI_NAMES(get_place_num_procs)
KUMIKI_NAMES(get_place_proc_ids)
KUMIKI_NAMES(get_proc_bind)
KUMIKI_NAMES(get_supported_active_levels)
KUMIKI_NAMES(get_team_num)
KUMIKI_NAMES(get_team_size)
KUMIKI_NAMES(get_teams_thread_limit)
KUMIKI_NAMES(get_thread_limit)
KUMIKI_NAMES(get_thread_num)
KUMIKI_NAMES(get_wtick)
KUMIKI_NAMES(get_wtime)
KUMIKI_NAMES(in_explicit_task)
KUMIKI_NAMES(in_final)
KUMIKI_NAMES(in_parallel)
KUMIKI_NAMES(init_allocator)
KUMIKI_NAMES(is_initial_device)
KUMIKI_NAMES(pause_resource)
KUMIKI_NAMES(pause_resource_all)
KUMIKI_NAMES(set_affinity_format)
KUMIKI_NAMES(set_default_allocator)
KUMIKI_NAMES(set_default_device)
KUMIKI_NAMES(set_dynamic)
KUMIKI_NAMES(set_max_active_levels)
KUMIKI_NAMES(set_nested)
KUMIKI_NAMES(set_num_teams)
KUMIKI_NAMES(set_num_threads)
KUMIKI_NAMES(set_schedule)
KUMIKI_NAMES(set_teams_thread_limit)
KUMIKI_NAME(aligned_alloc)
KUMIKI_NAME(aligned_calloc)
KUMIKI_NAME(alloc)
KUMIKI_NAME(calloc)
KUMIKI_NAME(free)
KUMIKI_NAME(realloc)

KUMIKI_LOCK_NAMES(init_lock, init_nest_lock)
KUMIKI_LOCK_NAMES(destroy_lock, destroy_nest_lock)
KUMIKI_LOCK_NAMES(set_lock, set_nest_lock)
KUMIKI_LOCK_NAMES(unset_lock, unset_nest_lock)
KUMIKI_LOCK_NAMES(test_lock, test_nest_lock)
// A hint says how a lock will be used; there is only one kind of lock.
KUMIKI_NAME_FOR(omp_init_lock_with_hint, omp_init_lock)
KUMIKI_NAME_FOR(omp_init_lock_with_hint_, omp_init_lock_)
KUMIKI_NAME_FOR(omp_init_nest_lock_with_hint, omp_init_nest_lock_)
KUMIKI_NAME_FOR(omp_init_nest_lock_with_hint_, omp_init_nest_lock_)

// clang's omp.h gives some functions of C other names.
#define KUMIKI_NAME_OF_C(name) KUMIKI_NAME_FOR(ompc_##name, omp_##name)
KUMIKI_NAME_OF_C(capture_affinity)
KUMIKI_NAME_OF_C(display_affinity)
KUMIKI_NAME_OF_C(get_affinity_format)
KUMIKI_NAME_OF_C(get_ancestor_thread_num)
KUMIKI_NAME_OF_C(get_team_size)
KUMIKI_NAME_OF_C(set_affinity_format)
KUMIKI_NAME_OF_C(set_dynamic)
KUMIKI_NAME_OF_C(set_max_active_levels)
KUMIKI_NAME_OF_C(set_nested)
KUMIKI_NAME_OF_C(set_num_threads)
KUMIKI_NAME_OF_C(set_schedule)

KUMIKI_NAME_FOR(omp_get_schedule, kumiki_kmp_get_schedule)
KUMIKI_NAME_FOR(omp_get_schedule_, kumiki_kmp_get_schedule)
