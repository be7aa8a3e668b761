#include "support/watchdog.hpp"

#include <cstdio>
#include <cstdlib>

namespace kumiki::tests {

Watchdog::Watchdog(std::string what, std::chrono::seconds patience)
    : thread_([this, what = std::move(what), patience] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, patience, [this] { return over_; })) return;
          std::fprintf(stderr, "HANG: %s does not end\n", what.c_str());
          std::abort();
      }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

} // namespace kumiki::tests
