// kumiki-lines MAPS: tells what lies at addresses of a program, for `kumiki run --explain`. MAPS is what the process
// had mapped (proc(5)). It reads lines from standard input and writes a line of JSON for each:
//
//   code 401136   {"function": "main._omp_fn.0", "frames": [{"function": "relax", "file": "/src/a.c", "line": 12}]}
//   data 404040   [{"name": "grid", "begin": 4210752, "bytes": 8388608}, ...]
//
// `data` lists all variables of the file in which the address lies.
//
// Frames are the innermost first: functions that the compiler has put into others have one each. What is not known is
// left out. Exit code 2: wrong usage, 3: MAPS cannot be read.
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Json = nlohmann::json;
using Scopes = std::unique_ptr<Dwarf_Die[], decltype(&std::free)>;

/// The name as the source has it. The demangler also takes an encoded type, so it would read the variable `a` as
/// "signed char": only names that begin as encoded names do are given to it.
std::string readable(const char* name) {
    if (std::string_view(name).substr(0, 2) != "_Z") return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 ? text.get() : name;
}

/// The name of a function, with its scope if the compiler has noted it.
std::string name_of(Dwarf_Die* function) {
    Dwarf_Attribute attribute;
    for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
        if (const char* name = dwarf_formstring(dwarf_attr_integrate(function, kind, &attribute)); name != nullptr)
            return readable(name);
    const char* name = dwarf_diename(function);
    return name != nullptr ? name : "";
}

/// Where an inlined function was called.
Json call_of(Dwarf_Die* function, Dwarf_Die* unit) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(function, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(function, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return {};
    const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
    return {{"file", name != nullptr ? name : ""}, {"line", line}};
}

/// The functions around an address, from the innermost to the one that was not inlined.
std::vector<Dwarf_Die> functions_at(Dwarf_Die* unit, Dwarf_Addr address) {
    std::vector<Dwarf_Die> functions;
    Dwarf_Die* found = nullptr;
    int count = dwarf_getscopes(unit, address, &found);
    Scopes scopes(found, &std::free);
    for (int i = 0; i < count; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        functions.push_back(scopes[i]);
        if (tag == DW_TAG_subprogram) return functions;
        // What follows in this list are the scopes of the function's definition; those of the call are wanted.
        Dwarf_Die inner = scopes[i];
        found = nullptr;
        count = dwarf_getscopes_die(&inner, &found);
        scopes.reset(found);
        i = 0;
    }
    return functions;
}

Json frames_at(Dwfl_Module* module, Dwarf_Addr address) {
    Json frames = Json::array();
    Json place;
    if (Dwfl_Line* line = dwfl_module_getsrc(module, address); line != nullptr) {
        int number = 0;
        if (const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr); file != nullptr)
            place = {{"file", file}, {"line", number}};
    }
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
    if (unit != nullptr)
        for (Dwarf_Die& function : functions_at(unit, address - bias)) {
            Json frame = place.is_object() ? place : Json::object();
            frame["function"] = name_of(&function);
            frames.push_back(frame);
            place = call_of(&function, unit);
        }
    if (frames.empty() && place.is_object()) frames.push_back(place);
    return frames;
}

Json code_at(Dwfl* process, Dwarf_Addr address) {
    Json said = Json::object();
    Dwfl_Module* module = dwfl_addrmodule(process, address);
    if (module == nullptr) return said;
    if (const char* name = dwfl_module_addrname(module, address); name != nullptr) said["function"] = readable(name);
    if (const char* file = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
        said["module"] = file;
    said["frames"] = frames_at(module, address);
    return said;
}

Json data_at(Dwfl* process, Dwarf_Addr address) {
    Json variables = Json::array();
    Dwfl_Module* module = dwfl_addrmodule(process, address);
    const int count = module == nullptr ? 0 : dwfl_module_getsymtab(module);
    for (int number = 0; number < count; ++number) {
        GElf_Sym symbol;
        GElf_Addr begin = 0;
        const char* name = dwfl_module_getsym_info(module, number, &symbol, &begin, nullptr, nullptr, nullptr);
        if (name != nullptr && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size != 0)
            variables.push_back({{"name", readable(name)}, {"begin", begin}, {"bytes", symbol.st_size}});
    }
    return variables;
}

} // namespace

int main(int count, char** arguments) {
    constexpr int usage = 2, environment = 3;
    if (count != 2) {
        fmt::print(stderr, "kumiki-lines: name one file, what the process had mapped\n");
        return usage;
    }
    unsetenv("DEBUGINFOD_URLS"); // nothing is fetched from elsewhere
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = nullptr,
                                             .debuginfo_path = nullptr};
    Dwfl* const process = dwfl_begin(&callbacks);
    std::FILE* const maps = std::fopen(arguments[1], "re");
    if (process == nullptr || maps == nullptr || dwfl_linux_proc_maps_report(process, maps) != 0 ||
        dwfl_report_end(process, nullptr, nullptr) != 0) {
        fmt::print(stderr, "kumiki-lines: cannot read {}, or it is not a list of mappings (proc(5))\n", arguments[1]);
        return environment;
    }
    std::string kind;
    for (Dwarf_Addr address = 0; std::cin >> kind >> std::hex >> address;) {
        const Json said = kind == "data" ? data_at(process, address) : code_at(process, address);
        fmt::print("{}\n", said.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    std::fclose(maps);
    dwfl_end(process);
    return 0;
}
