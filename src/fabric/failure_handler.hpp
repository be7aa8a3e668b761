#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace kumiki::fabric {

/// The function of the program that is told that the job cannot continue, when no call can return it: a thread of the
/// library has found it out, and the program's threads may be computing, or waiting for what never comes.
class FailureHandler {
public:
    using Function = std::function<void(const std::string& sentence)>;

    void set(Function function) {
        const std::lock_guard lock(mutex_);
        function_ = std::move(function);
    }
    /// The caller holds no lock of the library, because the function belongs to the program.
    void call(const std::string& sentence) const {
        const auto function = [this] {
            const std::lock_guard lock(mutex_);
            return function_;
        }();
        if (function) function(sentence);
    }

private:
    mutable std::mutex mutex_;
    Function function_;
};

} // namespace kumiki::fabric
