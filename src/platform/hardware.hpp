#pragma once

#include <filesystem>
#include <string>

namespace kumiki::platform {

/// One word that identifies this kind of machine, under which measured values are kept for machines of the same kind:
/// processor model, number of processors, and sizes of the first processor's caches, such as
/// "intel-r-xeon-r-gold-6430,64,48k,32k,2048k,61440k". Unknown values are left out. `root` contains proc and sys.
std::string hardware_key(const std::filesystem::path& root = "/");

/// The name that the system gives this host.
std::string host_name();

} // namespace kumiki::platform
