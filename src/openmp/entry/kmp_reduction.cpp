#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "openmp/entry/kmp.hpp"

/// Entry points of taskgroups and of reductions of tasks as clang calls them. Unlike gcc, clang leaves the combining to
/// the runtime, and describes each variable by functions.
using namespace kumiki::openmp;
using kmp::Source;

namespace {

/// A variable as the compiler describes it.
struct Input {
    void* shared;
    void* original; ///< what an initializer may refer to
    std::size_t bytes;
    void (*initialize)(void* copy, void* original); ///< nullptr: the copies begin as zeros
    void (*destroy)(void* copy);                    ///< nullptr: nothing to do
    void (*combine)(void* into, void* from);
    std::uint32_t flags;
};
/// The same of compilers before clang 10, whose initializers know of no original.
struct OldInput {
    void* shared;
    std::size_t bytes;
    void (*initialize)(void* copy);
    void (*destroy)(void* copy);
    void (*combine)(void* into, void* from);
    std::uint32_t flags;

    Input as_new() const {
        // The function ignores a second argument that it does not know.
        return {
            shared,  shared,  bytes, reinterpret_cast<void (*)(void*, void*)>(reinterpret_cast<void (*)()>(initialize)),
            destroy, combine, flags};
    }
};

/// The copies of one variable: one for each thread of the team, made when the thread first asks for it.
class Copies {
public:
    Copies(const Input& input, int threads)
        : input_(input),
          distance_((input.bytes + kumiki::platform::apart - 1) / kumiki::platform::apart * kumiki::platform::apart),
          size_(distance_ * static_cast<std::size_t>(threads)),
          memory_(static_cast<std::byte*>(::operator new(size_, std::align_val_t(kumiki::platform::apart)))),
          made_(static_cast<std::size_t>(threads), 0) {}
    ~Copies() { ::operator delete(memory_, std::align_val_t(kumiki::platform::apart)); }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

    /// Whether `address` is the variable, or the copy of any thread.
    bool has(const void* address) const {
        return address == input_.shared || (address >= memory_ && address < memory_ + size_);
    }
    void* of_thread(std::size_t id) {
        std::byte* const copy = memory_ + id * distance_;
        if (made_[id] == 0) { // each thread has a byte of its own
            if (input_.initialize != nullptr) input_.initialize(copy, input_.original);
            else std::memset(copy, 0, input_.bytes);
            made_[id] = 1;
        }
        return copy;
    }
    void combine_into(void* result) {
        for (std::size_t id = 0; id < made_.size(); ++id) {
            if (made_[id] == 0) continue;
            input_.combine(result, memory_ + id * distance_);
            if (input_.destroy != nullptr) input_.destroy(memory_ + id * distance_);
        }
    }

private:
    Input input_;
    std::size_t distance_, size_;
    std::byte* memory_;
    std::vector<unsigned char> made_;
};

/// The copies of a construct, which all threads of a team share if it is a parallel or worksharing construct.
struct AllCopies {
    std::vector<std::unique_ptr<Copies>> variables;
    std::atomic<int> users{1};
};

/// The reductions of one taskgroup.
struct Reducers {
    AllCopies* copies;
    std::vector<void*> results; ///< this thread's variables; with shared copies, each thread has its own

    /// The copy of the calling thread; nullptr: `address` is not reduced here.
    void* find(const Member& me, const void* address) {
        for (std::size_t i = 0; i < results.size(); ++i)
            if (address == results[i] || copies->variables[i]->has(address))
                return copies->variables[i]->of_thread(static_cast<std::size_t>(me.id));
        return nullptr;
    }
};

AllCopies* make_copies(const std::vector<Input>& inputs, int threads) {
    auto* const made = new AllCopies;
    for (const Input& input : inputs) made->variables.push_back(std::make_unique<Copies>(input, threads));
    return made;
}

/// Attaches the reductions to the innermost taskgroup.
void* attach(Member& me, AllCopies* copies, const std::vector<Input>& inputs) {
    auto* const reducers = new Reducers{.copies = copies, .results = {}};
    for (const Input& input : inputs) reducers->results.push_back(input.shared);
    me.task->group->reducers = reducers;
    return me.task->group;
}

void* begin(std::vector<Input> inputs) {
    Member& me = self();
    return attach(me, make_copies(inputs, me.team.size()), inputs);
}

/// For the modifier task: all threads call it, and those of a process share the copies of the first one; tasks run in
/// the process that creates them.
void* begin_together(std::vector<Input> inputs) {
    Member& me = self();
    begin_group(me);
    Workshare& share = me.team.shares().enter(me, [&](Workshare& first) {
        AllCopies* const copies = make_copies(inputs, me.team.size());
        copies->users.store(me.team.here(), std::memory_order_relaxed);
        first.copies = copies;
    });
    auto* const copies = static_cast<AllCopies*>(share.copies);
    leave_share(me);
    return attach(me, copies, inputs);
}

/// The last user of the copies combines them all into its own variables, which the program then combines with those of
/// the other threads as in every reduction.
void finish(Reducers* reducers) {
    const std::unique_ptr<Reducers> mine(reducers);
    // acq_rel: the last one sees what the tasks of the other threads have added.
    if (mine->copies->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::unique_ptr<AllCopies> copies(mine->copies);
    for (std::size_t i = 0; i < mine->results.size(); ++i) copies->variables[i]->combine_into(mine->results[i]);
}

std::vector<Input> read(std::int32_t count, const Input* inputs) { return {inputs, inputs + count}; }
std::vector<Input> read(std::int32_t count, const OldInput* inputs) {
    std::vector<Input> all;
    for (std::int32_t i = 0; i < count; ++i) all.push_back(inputs[i].as_new());
    return all;
}

} // namespace

KUMIKI_ENTRY void __kmpc_taskgroup(const Source*, std::int32_t) { begin_group(self()); }
KUMIKI_ENTRY void __kmpc_end_taskgroup(const Source*, std::int32_t) {
    Member& me = self();
    auto* const reducers = static_cast<Reducers*>(me.task->group->reducers);
    end_group(me);
    if (reducers != nullptr) finish(reducers);
}

KUMIKI_ENTRY void* __kmpc_taskred_init(std::int32_t, std::int32_t count, const Input* inputs) {
    return begin(read(count, inputs));
}
KUMIKI_ENTRY void* __kmpc_task_reduction_init(std::int32_t, std::int32_t count, const OldInput* inputs) {
    return begin(read(count, inputs));
}
KUMIKI_ENTRY void* __kmpc_taskred_modifier_init(const Source*, std::int32_t, std::int32_t, std::int32_t count,
                                                const Input* inputs) {
    return begin_together(read(count, inputs));
}
KUMIKI_ENTRY void* __kmpc_task_reduction_modifier_init(const Source*, std::int32_t, std::int32_t, std::int32_t count,
                                                       const OldInput* inputs) {
    return begin_together(read(count, inputs));
}
KUMIKI_ENTRY void __kmpc_task_reduction_modifier_fini(const Source* source, std::int32_t gtid, std::int32_t) {
    __kmpc_end_taskgroup(source, gtid);
}

KUMIKI_ENTRY void* __kmpc_task_reduction_get_th_data(std::int32_t, void* group, void* address) {
    const Member& me = self();
    const auto* each = group != nullptr ? static_cast<const Taskgroup*>(group) : me.task->group;
    for (; each != nullptr; each = each->outer) {
        auto* const reducers = static_cast<Reducers*>(each->reducers);
        void* const found = reducers != nullptr ? reducers->find(me, address) : nullptr;
        if (found != nullptr) return found;
    }
    refuse("a task takes part in a reduction of a variable of which no enclosing construct has a reduction with "
           "task_reduction or the modifier task");
}
