#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "openmp/entry/kmp.hpp"
#include "platform/per_thread.hpp"

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
    std::int32_t first_user = -1;         ///< a thread; -1: none so far
};

/// The variables of the process. The entries stay where they are, and do not change once they are there. They are not
/// destroyed with exit(), because destructors of the program may use such variables.
struct Variables {
    std::mutex mutex;
    std::unordered_map<void*, std::unique_ptr<Variable>> by_address;
};
Variables& variables() {
    static auto* const all = new Variables;
    return *all;
}

/// Whether the calling thread needs no copy: it is the first one that has used the variable, or, over several ranks,
/// the one that runs main. A copyin clause takes the values from the variable.
bool uses_itself(const Variable& variable) {
    if (const OtherRanks* const others = process().others()) return others->rank() == 0 && others->leads();
    return variable.first_user == kmp::thread_number();
}

/// A thread's copies, which end with it.
class ThreadCopies {
public:
    ~ThreadCopies() {
        for (const auto& [address, copy] : copies_) {
            if (copy.memory == address) continue; // the variable itself
            if (copy.variable->destroy != nullptr) copy.variable->destroy(copy.memory);
            std::free(copy.memory);
        }
    }
    void* find(void* variable) const {
        const auto found = copies_.find(variable);
        return found == copies_.end() ? nullptr : found->second.memory;
    }
    void* add(void* address, std::size_t bytes, const Variable& variable) {
        if (uses_itself(variable)) {
            copies_.emplace(address, Copy{address, &variable});
            return address;
        }
        if (OtherRanks* const others = process().others()) others->note_tie();
        void* const memory = program_memory(bytes, kumiki::platform::apart); // whose address other threads may get
        if (memory == nullptr) refuse("there is no memory for a thread's copy of a variable");
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
kumiki::platform::PerThread<ThreadCopies> the_copies;

/// The entry of a variable that some thread has used before; nullptr: none has.
const Variable* known(void* address) {
    Variables& all = variables();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_address.find(address);
    return found != all.by_address.end() && found->second->first_user >= 0 ? found->second.get() : nullptr;
}

/// The value of a variable that no thread of this process has changed. That of another rank may have.
void copy_initial(const void* address, std::span<std::byte> into) {
    if (const OtherRanks* const others = process().others()) others->copy_initial(address, into);
    else std::memcpy(into.data(), address, into.size());
}

/// The entry of a variable that is used.
const Variable& used(void* address, std::size_t bytes) {
    if (const Variable* const variable = known(address)) return *variable;
    auto initial = std::make_unique<std::byte[]>(bytes); // not under the lock: no access to the program's memory there
    copy_initial(address, {initial.get(), bytes});
    Variables& all = variables();
    const std::lock_guard lock(all.mutex);
    auto& entry = all.by_address[address];
    if (entry == nullptr) entry = std::make_unique<Variable>();
    if (entry->first_user < 0) {
        entry->initial = std::move(initial);
        entry->first_user = kmp::thread_number();
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
    if (void* const copy = the_copies.mine().find(address)) return copy;
    return the_copies.mine().add(address, bytes, used(address, bytes));
}
KUMIKI_ENTRY void* __kmpc_threadprivate(const Source* source, std::int32_t gtid, void* address, std::size_t bytes) {
    return __kmpc_threadprivate_cached(source, gtid, address, bytes, nullptr);
}
