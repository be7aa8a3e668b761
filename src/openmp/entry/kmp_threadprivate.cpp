#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "openmp/entry/kmp.hpp"

/// Threadprivate variables that the compiler does not make thread-local by itself: each thread but the first one that
/// uses a variable gets a copy.
using namespace kumiki::openmp;
using kmp::Source;

namespace {

/// How the copies of a variable are made.
struct Variable {
    void* (*construct)(void* copy) = nullptr;
    void* (*copy_construct)(void* copy, void* original) = nullptr;
    void (*destroy)(void* copy) = nullptr;
    std::unique_ptr<std::byte[]> initial; ///< its value before any thread changed it
    std::int32_t owner = -1;              ///< the thread that uses the variable itself
};

/// The variables of the process. The entries stay where they are, and do not change once they are there.
struct Variables {
    std::mutex mutex;
    std::unordered_map<void*, std::unique_ptr<Variable>> by_address;
};
Variables& variables() {
    static Variables all;
    return all;
}

/// A thread's copies, which end with it.
class ThreadCopies {
public:
    ~ThreadCopies() {
        for (const auto& [address, copy] : copies_) {
            if (copy.memory == address) continue; // the variable itself
            if (copy.variable->destroy != nullptr) copy.variable->destroy(copy.memory);
            ::operator delete(copy.memory, std::align_val_t(kumiki::platform::apart));
        }
    }
    void* find(void* variable) const {
        const auto found = copies_.find(variable);
        return found == copies_.end() ? nullptr : found->second.memory;
    }
    void* add(void* address, std::size_t bytes, const Variable& variable) {
        if (variable.owner == kmp::thread_number()) {
            copies_.emplace(address, Copy{address, &variable});
            return address;
        }
        void* const memory = ::operator new(bytes, std::align_val_t(kumiki::platform::apart));
        if (variable.construct != nullptr) variable.construct(memory);
        else if (variable.copy_construct != nullptr) variable.copy_construct(memory, address);
        else std::memcpy(memory, variable.initial.get(), bytes);
        copies_.emplace(address, Copy{memory, &variable});
        return memory;
    }

private:
    struct Copy {
        void* memory;
        const Variable* variable;
    };
    std::unordered_map<void*, Copy> copies_;
};
thread_local ThreadCopies the_copies;

/// The entry of a variable that some thread has used before; nullptr: none has.
const Variable* known(void* address) {
    Variables& all = variables();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_address.find(address);
    return found != all.by_address.end() && found->second->owner >= 0 ? found->second.get() : nullptr;
}

/// The entry of a variable; its first user becomes the owner of the variable itself.
const Variable& used(void* address, std::size_t bytes) {
    if (const Variable* const variable = known(address)) return *variable;
    auto initial = std::make_unique<std::byte[]>(bytes); // not under the lock: no access to the program's memory there
    std::memcpy(initial.get(), address, bytes);
    Variables& all = variables();
    const std::lock_guard lock(all.mutex);
    auto& entry = all.by_address[address];
    if (entry == nullptr) entry = std::make_unique<Variable>();
    if (entry->owner < 0) {
        entry->initial = std::move(initial);
        entry->owner = kmp::thread_number();
    }
    return *entry;
}

} // namespace

KUMIKI_ENTRY void __kmpc_threadprivate_register(const Source*, void* address, void* (*construct)(void*),
                                                void* (*copy_construct)(void*, void*), void (*destroy)(void*)) {
    Variables& all = variables();
    const std::lock_guard lock(all.mutex);
    auto& entry = all.by_address[address];
    if (entry != nullptr) return;
    entry = std::make_unique<Variable>();
    entry->construct = construct;
    entry->copy_construct = copy_construct;
    entry->destroy = destroy;
}

/// The calling thread's copy of the variable at `address`. The program's own cache of addresses is not used.
KUMIKI_ENTRY void* __kmpc_threadprivate_cached(const Source*, std::int32_t, void* address, std::size_t bytes, void***) {
    if (void* const copy = the_copies.find(address)) return copy;
    return the_copies.add(address, bytes, used(address, bytes));
}
KUMIKI_ENTRY void* __kmpc_threadprivate(const Source* source, std::int32_t gtid, void* address, std::size_t bytes) {
    return __kmpc_threadprivate_cached(source, gtid, address, bytes, nullptr);
}
