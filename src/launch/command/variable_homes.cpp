#include "launch/command/variable_homes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

#include "platform/memory.hpp"
#include "settings/distribution.hpp"

namespace kumiki::launch {
namespace {

using Variable = ElfFile::Variable;

/// `option` is what the user has written.
tl::unexpected<Failure> unusable(const std::string& option, std::string_view why) {
    return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("{} is not usable: {}", option, why));
}

/// The names of the longest variables: the ones that are worth distributing.
std::string longest(std::vector<Variable> all) {
    constexpr std::size_t most = 5;
    std::erase_if(all, [](const Variable& each) { return each.is_constant || each.is_of_thread; });
    std::ranges::sort(all, std::greater{}, &Variable::bytes);
    if (all.size() > most) all.resize(most);
    return fmt::format("{}", fmt::join(all | std::views::transform(&Variable::name), ", "));
}

Result<Variable> find(const Program& program, std::string_view name, const std::string& option) {
    const auto all = program.file.variables();
    if (all.empty())
        return unusable(option, fmt::format("{} has no symbols, so that its variables are not known; build it without "
                                            "-s, and do not strip it",
                                            program.name));
    const auto same = [name](const Variable& each) { return each.name == name; };
    const auto found = std::ranges::find_if(all, same);
    if (found == all.end())
        return unusable(option,
                        fmt::format("{} has no variable {}; its longest ones are {} (names as `nm` prints them)",
                                    program.name, name, longest(all)));
    const auto count = std::ranges::count_if(all, same);
    if (count > 1)
        return unusable(option, fmt::format("{} has {} variables {}, in different files or functions; rename the one "
                                            "that you mean",
                                            program.name, count, name));
    if (found->is_of_thread) return unusable(option, fmt::format("every thread has a {} of its own", name));
    if (found->is_constant) return unusable(option, fmt::format("{} is constant, and every rank has it", name));
    return *found;
}

/// Only pages that lie in the variable as a whole are distributed.
bool has_whole_page(const Variable& variable) {
    const std::uint64_t page = platform::page_size();
    return platform::round_up(variable.address, page) + page <= variable.address + variable.bytes;
}

bool is_by_touch(ProgramHomes homes) {
    return homes == ProgramHomes::first || homes == ProgramHomes::next || homes == ProgramHomes::relocated;
}

Result<std::string> homes_of(const Program& program, const std::string& map) {
    const std::string option = "--map " + map;
    const auto equals = map.find('='); // which is there (options.cpp)
    const std::string text = map.substr(equals + 1);
    const auto distribution = Distribution::from(text);
    if (!distribution) return unusable(option, distribution.error().message);
    const auto variable = find(program, std::string_view(map).substr(0, equals), option);
    if (!variable) return tl::unexpected(variable.error());
    if (!has_whole_page(*variable))
        return unusable(option, fmt::format("{} has {} bytes, and no whole page of {} bytes lies in it", variable->name,
                                            variable->bytes, platform::page_size()));
    if (distribution->kind == Distribution::Kind::rank && distribution->rank >= program.processes)
        return unusable(option, fmt::format("the program runs as {} {}, numbered from 0", program.processes,
                                            program.processes == 1 ? "process" : "processes"));
    if (const auto elements = distribution->elements();
        distribution->kind == Distribution::Kind::parts && elements != 0 && variable->bytes % elements != 0)
        return unusable(option, fmt::format("{} has {} bytes, which are not {} elements of equal length",
                                            variable->name, variable->bytes, elements));
    return variable_homes_text(variable->address, variable->bytes, text);
}

/// Variables that are written are mostly counters, sums and results of `single` and `master`, which rank 0 executes,
/// and whose atomic changes cost least where rank 0 is their home. If the first touch decided, an array's end in the
/// same page could take them elsewhere.
std::vector<std::string> homes_of_short_variables(const Program& program) {
    constexpr std::size_t most = 2000; // of which the text fits into a variable of the environment
    const std::uint64_t page = platform::page_size();
    std::vector<Variable> all = program.file.variables();
    std::erase_if(all, [](const Variable& each) {
        return each.is_constant || each.is_of_thread || each.address == 0 || has_whole_page(each);
    });
    std::ranges::sort(all, {}, &Variable::address);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs; // of pages: begin and end
    for (const Variable& each : all) {
        const std::uint64_t begin = each.address / page * page;
        const std::uint64_t end = platform::round_up(each.address + each.bytes, page);
        if (!runs.empty() && begin <= runs.back().second) runs.back().second = std::max(runs.back().second, end);
        else runs.emplace_back(begin, end);
    }
    if (runs.size() > most) runs.resize(most);
    std::vector<std::string> texts;
    for (const auto& [begin, end] : runs) texts.push_back(variable_homes_text(begin, end - begin, "rank:0"));
    return texts;
}

Result<std::string> rows_of(const Program& program, const std::string& schedule, const LoopSchedule& affinity) {
    const std::string option = "--schedule " + schedule;
    const auto variable = find(program, affinity.name, option);
    if (!variable) return tl::unexpected(variable.error());
    if (const auto rows = static_cast<std::uint64_t>(affinity.high - affinity.low + 1); variable->bytes % rows != 0)
        return unusable(option, fmt::format("{} has {} bytes, which are not {} rows of equal length", variable->name,
                                            variable->bytes, rows));
    return variable_homes_text(variable->address, variable->bytes, rows_text(affinity));
}

} // namespace

Result<std::string> variable_homes(const Program& program, std::span<const std::string> maps,
                                   const Settings& settings) {
    std::vector<std::string> texts, names;
    if (program.processes > 1 && is_by_touch(settings.homes)) texts = homes_of_short_variables(program);
    for (const std::string& map : maps) {
        names.push_back(map.substr(0, map.find('=')));
        if (std::ranges::count(names, names.back()) > 1)
            return unusable("--map " + map, names.back() + " has homes already");
        auto text = homes_of(program, map);
        if (!text) return text;
        texts.push_back(std::move(*text));
    }
    const auto wanted = LoopSchedule::from(settings.openmp_schedule);
    if (!wanted) return tl::unexpected(wanted.error());
    if (wanted->kind == LoopSchedule::Kind::affinity) {
        auto text = rows_of(program, settings.openmp_schedule, *wanted);
        if (!text) return text;
        texts.push_back(std::move(*text));
    }
    return fmt::format("{}", fmt::join(texts, ";"));
}

} // namespace kumiki::launch
