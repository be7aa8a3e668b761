#include "kernels/common/hidden.hpp"

#include <CLI/CLI.hpp>

namespace kumiki::kernels {

void add_hidden(CLI::App& program, bool& hidden, const std::string* form) {
    program.add_flag("--hidden", hidden,
                     "also run without communication and without computation, and tell how much of the one hides "
                     "behind the other (in messages)");
    if (form == nullptr) return;
    program.callback([&hidden, form] {
        if (hidden && *form != "message") throw CLI::ValidationError("--hidden", "is for the form message alone");
    });
}

} // namespace kumiki::kernels
