#pragma once

#include <string>
#include <tuple>

namespace kumiki::launch {

/// Why a job ends before its time.
struct Verdict {
    int code = 0;         ///< what the launcher returns
    std::string sentence; ///< empty: there is nothing to explain

    static auto fields(auto& self) { return std::tie(self.code, self.sentence); }
};

} // namespace kumiki::launch
