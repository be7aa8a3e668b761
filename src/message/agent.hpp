#pragma once

#include <atomic>
#include <thread>

#include "error/result.hpp"
#include "fabric/fabric.hpp"
#include "message/near.hpp"

namespace kumiki::message {

/// The thread that receives long messages of this host while the program computes (F24). It sleeps until a sender calls
/// it, which a sender does when it has waited for a while and nobody has answered its announcement. Then it matches the
/// message: where a receive is posted, the sender copies the message there alone; where none is, the sender copies it
/// into the reserve. So a call costs the computing program only as long as it takes to match.
class Agent {
public:
    Agent(fabric::Fabric& fabric, Near& near) : fabric_(fabric), near_(near) {}
    ~Agent() { stop(); }
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    Result<> start();
    void stop();

private:
    void serve();

    fabric::Fabric& fabric_;
    Near& near_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace kumiki::message
