// kumiki-shared-faults: says how faults of shared arrays would be handled on this machine, for `kumiki doctor`:
//
//   {"mechanism": "userfaultfd", "why": ""}
//
// `why` says what prevents the better mechanism. Exit code 3: the settings are wrong; the reason is on standard error.
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "platform/page_faults.hpp"
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
    const nlohmann::json found = {{"mechanism", why.empty() ? "userfaultfd" : "protection"}, {"why", why}};
    fmt::print("{}\n", found.dump());
    return 0;
}
