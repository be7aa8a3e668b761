// kumiki-shared-faults: says how faults of shared arrays would be handled on this machine, for `kumiki doctor`:
//
//   {"mechanism": "userfaultfd", "why": "", "system_calls": ""}
//
// `why` says what prevents the better mechanism, and `system_calls` what prevents system calls with buffers in pages
// that are not here. Exit code 3: the settings are wrong; the reason is on standard error.
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "platform/page_faults.hpp"
#include "platform/system_call_trap.hpp"
#include "settings/settings.hpp"

int main() {
    constexpr int environment_not_usable = 3;
    using kumiki::FaultMechanism;
    const auto settings = kumiki::read_settings(environ);
    if (!settings) {
        fmt::print(stderr, "kumiki-shared-faults: {}\n", settings.error().message);
        return environment_not_usable;
    }
    std::string why;
    if (settings->shared_faults == FaultMechanism::protection) why = "KUMIKI_SHARED_FAULTS=protection asks for it";
    else if (const auto works = kumiki::platform::userfaultfd_works(); !works) why = works.error().message;
    const auto trapped = kumiki::platform::trap_system_calls(kumiki::platform::unused_addresses(), 1);
    const nlohmann::json found = {{"mechanism", why.empty() ? "userfaultfd" : "protection"},
                                  {"why", why},
                                  {"system_calls", trapped ? "" : trapped.error().message}};
    fmt::print("{}\n", found.dump());
    return 0;
}
