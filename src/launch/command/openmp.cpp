#include "launch/command/openmp.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/command/elf_file.hpp"
#include "launch/command/variable_homes.hpp"
#include "platform/descriptor.hpp"

namespace kumiki::launch {
namespace {

namespace fs = std::filesystem;

/// The file that would run, found as a shell finds it; empty: there is none, of which the start of the rank will
/// complain.
std::string find_program(const std::string& name) {
    if (name.find('/') != name.npos) return name;
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        auto candidate = (folder.empty() ? "." : folder) + "/" + name;
        if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
    }
    return {};
}

/// What the dynamic linker prints about the libraries of a program, one line for each; nothing if it cannot be asked.
std::string list_libraries(const std::string& linker, const std::string& program) {
    auto pipe = platform::Pipe::create();
    if (!pipe) return {};
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe.write.get(), STDOUT_FILENO);
        dup2(pipe.write.get(), STDERR_FILENO);
        execl(linker.c_str(), linker.c_str(), "--list", program.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    pipe.write.reset();
    std::string text;
    char piece[4096];
    for (ssize_t got = 0; (got = read(pipe.read.get(), piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<std::size_t>(got));
    if (child > 0) waitpid(child, nullptr, 0);
    return text;
}

/// The first library that the dynamic linker says it has not found; empty: none.
std::string missing_library(const std::string& lines) {
    constexpr std::string_view before = "error while loading shared libraries: ";
    const auto found = lines.find(before);
    if (found == lines.npos) return {};
    const auto begin = found + before.size();
    return lines.substr(begin, lines.find(':', begin) - begin);
}

tl::unexpected<Failure> unusable(const std::string& program, std::string_view why) {
    return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("--openmp cannot run {}: {}", program, why));
}

/// The runtimes in whose place Kumiki's stands: gcc's, clang's (whose name has a number on Debian), and Intel's.
constexpr const char* runtimes[] = {"libgomp.so.1", "libomp.so", "libiomp5.so"};

/// Scripts are not read: what they start runs on the runtime if it uses libgomp or libomp.
///
/// With `several`, the program is to run as several processes; the runtime then must be in the program from its start.
/// Returns the name of the library that the program needs; empty: it is not known.
Result<std::string> check_program(const std::string& name, bool several) {
    const std::string path = find_program(name);
    const ElfFile file(path);
    std::error_code error;
    if (several && file.kind() != FileKind::program && fs::is_regular_file(path, error))
        return unusable(name, "it is no program but perhaps a script, which cannot run as several processes; "
                              "name the program that it starts");
    if (file.kind() != FileKind::program)
        return std::string(); // the start of the rank tells what is wrong, if anything is
    if (!file.is_native()) return unusable(name, "it is built for another kind of processor than this host's");
    const std::string linker = file.interpreter();
    const std::string libraries = linker.empty() ? std::string() : list_libraries(linker, path);
    for (const char* const runtime : runtimes) {
        const auto at = libraries.find(runtime);
        if (at == libraries.npos) continue;
        return libraries.substr(at, libraries.find_first_of(" \t\n", at) - at);
    }
    if (const auto missing = missing_library(libraries); !missing.empty())
        return unusable(name, fmt::format("its library {} is not found; install it, or name its folder in "
                                          "LD_LIBRARY_PATH",
                                          missing));
    for (const char* const function : {"GOMP_parallel", "__kmpc_fork_call"})
        if (file.defines(function))
            return unusable(name, "its OpenMP runtime is linked into it statically; link it without -static, so that "
                                  "it uses libgomp.so.1 or libomp.so.5");
    return unusable(name, linker.empty()
                              ? "it is linked statically; link it without -static, so that it uses libgomp.so.1"
                              : "it does not use OpenMP (neither libgomp.so.1 nor libomp.so.5 is among its libraries); "
                                "build it with -fopenmp, or leave --openmp out; if it loads a library that does, as "
                                "Python and R do with packages, set LD_PRELOAD to that library, or to libgomp.so.1");
}

/// A folder or file in front of those that a variable of the dynamic linker names already.
std::string in_front(const std::string& first, const char* variable) {
    const char* const before = std::getenv(variable);
    return before != nullptr && *before != '\0' ? fmt::format("{}:{}", first, before) : first;
}

/// What another library than Kumiki's should read, unless the user has told it something else.
void add_if_unset(Options& options, const char* variable, const char* value, bool needed) {
    if (needed && std::getenv(variable) == nullptr) options.settings.emplace_back(variable, value);
}

} // namespace

Result<> prepare_openmp(Options& options, const Settings& settings, int processes) {
    const bool several = processes > 1;
    const auto needed = check_program(options.program.front(), several);
    if (!needed) return tl::unexpected(needed.error());
    const std::string& name = options.program.front();
    auto homes = variable_homes({ElfFile(find_program(name)), name, processes}, options.maps, settings);
    if (!homes) return tl::unexpected(homes.error());
    if (several && !homes->empty()) options.settings.emplace_back("KUMIKI_OPENMP_HOMES", std::move(*homes));
    std::error_code error;
    const auto libraries = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "lib";
    const std::string runtime = several ? "kumiki-openmp-ranks" : "kumiki-openmp";
    const auto library = libraries / ("lib" + runtime + ".so");
    if (!fs::exists(library, error))
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("{} is missing; build Kumiki again{}", library.string(),
                                several ? ", on an x86-64 processor and with Zydis (libzydis-dev)" : ""));
    if (library.string().find_first_of(" :;") != std::string::npos)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("the dynamic linker cannot load {} first, because of the blank, colon or semicolon in "
                                "its name; install Kumiki in another folder",
                                library.string()));
    // There the library has the names of LLVM's, so that a program of clang starts where these are not installed. Such
    // a name may be a copy (wheels have no links), and the linker must find the file that it has loaded first.
    const auto names = libraries / runtime;
    const bool is_named = !needed->empty() && fs::exists(names / *needed, error);
    options.settings.emplace_back("LD_PRELOAD",
                                  in_front((is_named ? names / *needed : library).string(), "LD_PRELOAD"));
    // What the dynamic linker writes into the program later would be an address of one process.
    if (several) options.settings.emplace_back("LD_BIND_NOW", "1");
    // gfortran's library reads this before anything of Kumiki runs. What it kept would be printed at the very end, and
    // in a file at the place where this process last wrote, over what others have written there.
    add_if_unset(options, "GFORTRAN_UNBUFFERED_PRECONNECTED", "y", several);
    // UCX would put a jump to its own function over the beginning of our mmap() (openmp/ranks/memory/mappings.cpp), to
    // notice when memory goes that it has registered with the network; what the ranks share never goes.
    add_if_unset(options, "UCX_MEM_MMAP_HOOK_MODE", "none", several);
    // When the process ends, UCX would give the signals of faults back to the system; but destructors of other
    // libraries may run after that, and touch pages that fault.
    add_if_unset(options, "UCX_ERROR_SIGNALS", "", several);
    // A program with MPI, too, that no MPI launcher has started: Open MPI 4 would start its daemon by fork(), only so
    // that the program could start further ones.
    add_if_unset(options, "OMPI_MCA_ess_singleton_isolated", "1", several);
    options.settings.emplace_back("LD_LIBRARY_PATH", in_front(names.string(), "LD_LIBRARY_PATH"));
    return {};
}

} // namespace kumiki::launch
