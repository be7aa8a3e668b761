#pragma once

#include <string>

namespace kumiki {

/// The value of KUMIKI_EXPLAIN: the folder where ranks record what shared memory costs; empty: nowhere.
std::string explain_folder(const char* const* environment);

} // namespace kumiki
