#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kumiki::tests {

/// Ends the process with a sentence if it runs too long: a lost wake-up causes a hang, and a hang must fail the test
/// and name it.
class Watchdog {
public:
    explicit Watchdog(std::string what, std::chrono::seconds patience = std::chrono::seconds(100));
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;
};

} // namespace kumiki::tests
