#pragma once

#include <filesystem>
#include <string>

namespace kumiki::platform {

/// One word for the kind of machine that this is, by which what was measured on one is found again on its like:
/// processor model, number of processors, sizes of the caches of the first, such as
/// "intel-r-xeon-r-gold-6430,64,48k,32k,2048k,61440k". What is unknown is left out. `root` holds proc and sys.
std::string hardware_key(const std::filesystem::path& root = "/");

/// What the system calls this host.
std::string host_name();

} // namespace kumiki::platform
