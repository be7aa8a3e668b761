#pragma once

#include <algorithm>
#include <vector>

namespace kumiki::fabric {

/// What a floor above has to do while threads wait for whatever it is: each of them runs it again and again, several at
/// once, too, and once after each ring of the rank's bell.
class ProgressHook {
public:
    virtual ~ProgressHook() = default;
    virtual void progress() = 0;
};

/// Those of one rank, in the order in which they were added. They are added and removed while no thread waits: when a
/// floor is built, and when it goes.
class ProgressHooks {
public:
    void add(ProgressHook& hook) { hooks_.push_back(&hook); }
    void remove(ProgressHook& hook) { std::erase(hooks_, &hook); }
    bool empty() const { return hooks_.empty(); }
    void run() const {
        for (ProgressHook* hook : hooks_) hook->progress();
    }

private:
    std::vector<ProgressHook*> hooks_;
};

} // namespace kumiki::fabric
