#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "dsm/courier.hpp"
#include "dsm/locks.hpp"
#include "dsm/release_server.hpp"
#include "dsm/shared_memory.hpp"
#include "error/result.hpp"

namespace kumiki::dsm {

/// Lets threads wait for variables in shared arrays that threads of other ranks write, in a loop of loads and without
/// taking a lock. It keeps the order of a processor's stores (docs/decisions/openmp-waits.md): a thread that finds a
/// value sees all that was written before it. For ranks that are alone on their hosts.
class VariableWait {
public:
    /// All ranks must start it with the same lock. A rank that lets others see what it has written holds this lock
    /// meanwhile, and each rank flushes before a barrier. `flush` acquires the lock, calls renew() and releases it.
    static Result<std::unique_ptr<VariableWait>> start(SharedMemory& memory, Locks& locks, int lock,
                                                       std::function<void()> flush);
    /// Whether this rank can have one.
    static bool suits(SharedMemory& memory) { return memory.changes() != nullptr; }

    /// The page of the variable that the calling thread has looked at last, which it wants with the lock when it
    /// flushes; nothing: it has other work now.
    std::optional<PageName> wanted() const;
    /// What a thread calls when it flushes, while it has the lock: the variable that it has looked at last is fetched
    /// if the flush has dropped it, so the next look needs no fault, nor another flush.
    void renew();
    /// What a thread calls after each look at a variable, in a loop of the program that `place` names. When it returns,
    /// the thread sees all that was written before the value that it found. If nothing has changed since its last look
    /// it waits until something may have, but at most for a while: other threads of this rank may write the variable,
    /// too. Null: the variable is not known; the place is that of the last look, and the thread is not kept, for it
    /// gives up the processor itself.
    void look_again(const void* place, const void* variable);

private:
    VariableWait(SharedMemory& memory, Locks& locks, int lock, std::function<void()> flush);
    SharedMemory::Change last_change(const void* variable) const;

    SharedMemory& memory_;
    Courier& changes_;
    Locks& locks_;
    int lock_;
    std::function<void()> flush_;
    std::unique_ptr<ReleaseServer> server_;
};

} // namespace kumiki::dsm
