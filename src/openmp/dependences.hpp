#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "openmp/lock.hpp"

namespace kumiki::openmp {

struct Task;
struct Member;

/// A task in the graph of dependences, or a wait for some tasks. It outlives its task, because later siblings may ask
/// whether it is done.
struct DependenceNode {
    Lock lock;
    bool done = false;                                       ///< under the lock
    std::vector<std::shared_ptr<DependenceNode>> successors; ///< under the lock
    std::atomic<int> unfinished{1};                          ///< predecessors, and 1 while they are being found
    Task* task = nullptr; ///< to queue when it becomes ready; nullptr: a thread waits for it
};

/// How a task uses a storage location (depend clause). mutexinoutset is treated as inout, which OpenMP allows.
enum class Access { in, out, inoutset };

struct Dependence {
    const void* address;
    Access access;
};

/// Reads the array that the compiler makes of depend clauses. Its format:
///
///     [0] n > 0, [1] how many of them are out or inout: n addresses, those first; the others are in
///     [0] 0, [1] n, [2] out or inout, [3] mutexinoutset, [4] in: n addresses in this order, the rest are depend
///     objects:
///         pairs of an address and a number (1 in, 2 out, 3 inout, 4 mutexinoutset, 5 inoutset)
std::vector<Dependence> read_dependences(void** array);

/// A location may be named several times; then the strongest use counts, which must come first.
void put_strongest_first(std::vector<Dependence>& dependences);

/// The last uses of each location by the children of one task. Only this task's thread touches the table.
class DependenceTable {
public:
    /// Makes `node` a successor of the tasks that must end before it, and remembers its own uses.
    void add(const std::shared_ptr<DependenceNode>& node, const std::vector<Dependence>& dependences);
    /// The same for a wait, which no later task depends on.
    void add_wait(const std::shared_ptr<DependenceNode>& node, const std::vector<Dependence>& dependences);

private:
    using Nodes = std::vector<std::shared_ptr<DependenceNode>>;
    /// The tasks that may run beside each other, because all of them only read or are in one inoutset, and those
    /// before them.
    struct Uses {
        Access access = Access::out;
        Nodes latest, before;
    };
    void add_to_all(const std::shared_ptr<DependenceNode>& node);

    std::unordered_map<const void*, Uses> uses_;
    Nodes all_memory_; ///< the last task with omp_all_memory: what has no uses yet comes after it
};

/// All predecessors of the node are known. Returns whether none is unfinished.
bool close(DependenceNode& node);

/// The task of the node has ended: queues the tasks that thereby become ready with `me`.
void finish(DependenceNode& node, Member& me);

} // namespace kumiki::openmp
