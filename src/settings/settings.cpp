#include "settings/settings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "settings/explain_folder.hpp"

namespace kumiki {
namespace {

constexpr std::string_view prefix = "KUMIKI_";

/// Edit distance, by which the setting nearest to a misspelt name is found.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

const Setting* find(std::string_view name) {
    const auto table = settings_table();
    const auto found = std::ranges::find(table, name, &Setting::name);
    return found == table.end() ? nullptr : &*found;
}

struct Variable {
    std::string_view name, value;
};

/// The variables of the environment that begin with KUMIKI_.
std::vector<Variable> variables(const char* const* environment) {
    std::vector<Variable> found;
    for (; *environment != nullptr; ++environment) {
        const std::string_view entry(*environment);
        const auto equals = entry.find('=');
        if (entry.starts_with(prefix) && equals != entry.npos)
            found.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
    return found;
}

Result<> assign(Settings& settings, const Setting& setting, std::string_view text) {
    auto assigned = setting.assign(settings, text);
    if (!assigned)
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("{}={} is not usable: {} (`kumiki-run --settings` explains every setting)",
                                setting.name, text, assigned.error().message));
    return {};
}

} // namespace

std::string explain_folder(const char* const* environment) {
    for (const Variable& variable : variables(environment))
        if (variable.name == "KUMIKI_EXPLAIN") return std::string(variable.value);
    return {};
}

Result<Settings> read_settings(const char* const* environment) {
    Settings settings;
    for (const Setting& setting : settings_table())
        if (auto assigned = assign(settings, setting, setting.fallback); !assigned)
            return tl::unexpected(assigned.error());
    for (const auto& [name, value] : variables(environment))
        if (const Setting* setting = find(name))
            if (auto assigned = assign(settings, *setting, value); !assigned) return tl::unexpected(assigned.error());
    if (settings.rank >= settings.size)
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("KUMIKI_RANK={} does not fit KUMIKI_SIZE={}: these two are set by the launcher, not by hand",
                        settings.rank, settings.size));
    // Ranks that share one memory leave no trace of who wrote what.
    if (settings.shared_check) settings.shared_copies = CopyHolder::rank;
    if (settings.local_size == 0) { // one host
        settings.local_size = settings.size;
        settings.local_rank = settings.rank;
    }
    if (settings.local_rank >= settings.local_size || settings.local_size > settings.size)
        return fail(
            KUMIKI_ERROR_ENVIRONMENT,
            fmt::format("KUMIKI_LOCAL_RANK={} and KUMIKI_LOCAL_SIZE={} do not fit each other or KUMIKI_SIZE={}: "
                        "they are set by the launcher, not by hand",
                        settings.local_rank, settings.local_size, settings.size));
    return settings;
}

std::vector<std::string> unknown_settings(const char* const* environment) {
    std::vector<std::string> remarks;
    for (const auto& [name, value] : variables(environment)) {
        if (find(name) != nullptr) continue;
        const auto nearest =
            std::ranges::min(settings_table(), {}, [&](const Setting& s) { return distance(s.name, name); });
        remarks.push_back(
            fmt::format("the environment variable {} is not a Kumiki setting and is ignored; did you mean {}?", name,
                        nearest.name));
    }
    return remarks;
}

std::string settings_as_markdown() {
    std::string text =
        "# Settings\n\nEach setting is an environment variable. If an option is listed, `kumiki-run` accepts it, too, "
        "and it "
        "overrides the variable.\n`kumiki-run --settings` prints this page; a test keeps the two identical.\n\n"
        "| variable | option | default | unit or choices | what it does |\n| --- | --- | --- | --- | --- |\n";
    for (const Setting& s : settings_table())
        if (!s.internal)
            text += fmt::format("| `{}` | {} | {} | {} | {} |\n", s.name,
                                s.option.empty() ? "" : fmt::format("`{}`", s.option),
                                s.fallback.empty() ? "" : fmt::format("`{}`", s.fallback), s.unit, s.help);
    text += "\nThe launcher passes these variables to its ranks; programs may read them, but users do not set "
            "them:\n\n"
            "| variable | meaning |\n| --- | --- |\n";
    for (const Setting& s : settings_table())
        if (s.internal) text += fmt::format("| `{}` | {} |\n", s.name, s.help);
    return text;
}

} // namespace kumiki
