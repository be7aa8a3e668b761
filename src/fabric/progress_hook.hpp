#pragma once

#include <algorithm>
#include <vector>

namespace kumiki::fabric {

/// Work of a layer above that must continue while threads wait for anything. Every waiting thread calls progress()
/// repeatedly, and once after each ring of the rank's bell; several threads may call it concurrently.
class ProgressHook {
public:
    virtual ~ProgressHook() = default;
    virtual void progress() = 0;
    /// Called once in a wait that takes long, before the thread falls asleep.
    virtual void doubt() {}
};

/// The hooks of one rank, in the order in which they were added. Layers add them at construction and remove them at
/// destruction, while no thread waits.
class ProgressHooks {
public:
    void add(ProgressHook& hook) { hooks_.push_back(&hook); }
    void remove(ProgressHook& hook) { std::erase(hooks_, &hook); }
    bool empty() const { return hooks_.empty(); }
    void run() const {
        for (ProgressHook* hook : hooks_) hook->progress();
    }
    void doubt() const {
        for (ProgressHook* hook : hooks_) hook->doubt();
    }

private:
    std::vector<ProgressHook*> hooks_;
};

} // namespace kumiki::fabric
