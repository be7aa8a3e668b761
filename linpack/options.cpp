#include "linpack/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace kumiki::linpack {

namespace {

/// "2x3": two process rows, three process columns; numbers of up to six digits, as `kumiki linpack` takes them.
std::optional<Grid> grid_of(const std::string& text) {
    Grid grid;
    int end = 0;
    if (std::sscanf(text.c_str(), "%6dx%6d%n", &grid.rows, &grid.columns, &end) != 2 ||
        static_cast<std::size_t>(end) != text.size() || grid.rows < 1 || grid.columns < 1)
        return std::nullopt;
    return grid;
}

const std::map<std::string, LookAhead>& look_aheads() {
    static const std::map<std::string, LookAhead> words{{"tiles", LookAhead::tiles},
                                                        {"chopped", LookAhead::chopped},
                                                        {"thread", LookAhead::thread},
                                                        {"none", LookAhead::none}};
    return words;
}

const std::map<std::string, Form>& forms() {
    static const std::map<std::string, Form> words{
        {"auto", Form::automatic}, {"offload", Form::offload}, {"resident", Form::resident}};
    return words;
}

template <class Value>
const char* word_among(const std::map<std::string, Value>& words, Value wanted) {
    for (const auto& [word, value] : words)
        if (value == wanted) return word.c_str();
    return "";
}

} // namespace

const char* word_for(LookAhead look_ahead) { return word_among(look_aheads(), look_ahead); }
const char* word_for(Form form) { return word_among(forms(), form); }

Grid near_square(int ranks) {
    Grid grid{1, ranks};
    for (int rows = 1; rows * rows <= ranks; ++rows)
        if (ranks % rows == 0) grid = {rows, ranks / rows};
    return grid;
}

void Options::add_to(CLI::App& program) {
    const auto at_least = [](double minimum) { return CLI::Range(minimum, 2147483647.0); };
    program.add_option("-N,--size", sizes, "rows of the matrix; several: 1000,2000")
        ->delimiter(',')
        ->check(at_least(0))
        ->capture_default_str();
    program.add_option("--block", blocks, "rows and columns of a block (HPL: NB)")
        ->delimiter(',')
        ->check(at_least(1))
        ->capture_default_str();
    program
        .add_option_function<std::vector<std::string>>(
            "--grid",
            [this](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    const std::optional<Grid> grid = grid_of(text);
                    if (!grid) throw CLI::ValidationError("--grid: " + text + " is not a grid of ranks such as 2x3");
                    grids.push_back(*grid);
                }
            },
            "process rows x process columns, such as 2x3; default: as square as the ranks allow")
        ->delimiter(',');
    program.add_flag("--by-columns", by_columns, "number the ranks of the grid along its columns, not along its rows");
    program.add_option_function<std::string>(
        "--weights", [this](const std::string& text) { read_weights(text); },
        "the share of each process column, such as 2,1, or 'measured': by the speed of its ranks; default: equal");
    const std::map<std::string, Looking> lookings{
        {"left", Looking::left}, {"crout", Looking::crout}, {"right", Looking::right}};
    program.add_option("--rfact", recursive, "how panels are factored by recursion: left, crout or right")
        ->delimiter(',')
        ->transform(CLI::CheckedTransformer(lookings))
        ->default_str("right");
    program.add_option("--ndiv", parts, "parts of a panel in a recursion")
        ->delimiter(',')
        ->check(at_least(2))
        ->capture_default_str();
    program.add_option("--pfact", leaf, "how the last parts of a panel are factored: left, crout or right")
        ->delimiter(',')
        ->transform(CLI::CheckedTransformer(lookings))
        ->default_str("right");
    program.add_option("--nbmin", least, "columns at which the recursion ends")
        ->delimiter(',')
        ->check(at_least(1))
        ->capture_default_str();
    const std::map<std::string, Broadcast> broadcasts_by_name{
        {"1ring", Broadcast::ring},      {"1ringM", Broadcast::ring_modified},
        {"2ring", Broadcast::two_rings}, {"2ringM", Broadcast::two_rings_modified},
        {"long", Broadcast::scattered},  {"longM", Broadcast::scattered_modified}};
    program
        .add_option("--broadcast", broadcasts,
                    "how panels travel between hosts: 1ring, 1ringM, 2ring, 2ringM, long or longM")
        ->delimiter(',')
        ->transform(CLI::CheckedTransformer(broadcasts_by_name))
        ->default_str("1ring");
    const std::map<std::string, Swap> swaps{{"binary", Swap::exchange}, {"long", Swap::ring}, {"mix", Swap::mixed}};
    program.add_option("--swap", swap, "how rows travel between hosts: binary (exchange), long (along a ring) or mix")
        ->transform(CLI::CheckedTransformer(swaps))
        ->default_str("mix");
    program
        .add_option("--swap-threshold", swap_threshold,
                    "with --swap mix: the most columns at a time for binary exchange")
        ->check(at_least(0))
        ->capture_default_str();
    program
        .add_option("--look-ahead", look_ahead,
                    "what is done while the next panel is made: tiles, one after another; chopped: a block at a time "
                    "until it is there; thread: one product, and a thread that waits for it; none: it is made "
                    "afterwards")
        ->transform(CLI::CheckedTransformer(look_aheads()))
        ->default_str("tiles");
    program.add_option("--threshold", threshold, "the scaled residual must be below; 0: do not check the solution")
        ->check([](const std::string& text) {
            double number = 0;
            return CLI::detail::lexical_cast(text, number) && std::isnan(number) ? text + " is not a number" : "";
        })
        ->capture_default_str();
    program.add_flag("--progress", progress, "tell on standard error how far a run is");
}

void Options::add_device_to(CLI::App& program) {
    CLI::Option* const which =
        program.add_option("--device", device.description,
                           "the accelerator of each host, which shares the updates: opencl:0, emulated:rate=20,bus=4");
    program
        .add_option("--device-share", device.share,
                    "the share of the columns that the device gets, 0 to 1; default: by measured rates, and nothing "
                    "where the device does not make the whole faster")
        ->check(CLI::Range(0.0, 1.0))
        ->needs(which);
    program
        .add_option("--form", device.form,
                    "how the device takes part: offload (it gets products of updates), resident (the matrix lives on "
                    "it, and each rank has a device of its own) or auto, by measured rates")
        ->transform(CLI::CheckedTransformer(forms()))
        ->default_str("auto")
        ->needs(which);
    program
        .add_option("--device-processes", device.processes,
                    "the last so many ranks of each host send the products of their updates to the device, the others "
                    "none; default: all ranks share it")
        ->check(CLI::NonNegativeNumber)
        ->needs(which);
}

void Options::read_weights(const std::string& text) {
    measured_weights = text == "measured";
    weights.clear();
    for (const std::string& word : measured_weights ? std::vector<std::string>{} : CLI::detail::split(text, ',')) {
        double weight = 0;
        if (!CLI::detail::lexical_cast(word, weight) || !(weight >= 0) || std::isinf(weight))
            throw CLI::ValidationError("--weights: " + word + " is no share; give numbers such as 2,1, or 'measured'");
        weights.push_back(weight);
    }
}

std::vector<Variant> Options::variants() const {
    std::vector<Variant> all;
    for (const Looking above : recursive)
        for (const Looking below : leaf)
            for (const std::size_t columns : least)
                for (const std::size_t part : parts) all.push_back({above, part, below, columns});
    return all;
}

std::vector<Parameters> Options::runs(int ranks) const {
    std::vector<Parameters> all;
    for (Grid grid : grids.empty() ? std::vector<Grid>{near_square(ranks)} : grids) {
        grid.by_rows = !by_columns;
        for (const std::size_t size : sizes)
            for (const std::size_t block : blocks)
                for (const Broadcast broadcast : broadcasts)
                    for (const Variant& variant : variants())
                        all.push_back({size,
                                       block,
                                       grid,
                                       variant,
                                       weights,
                                       threshold,
                                       {broadcast, swap, swap_threshold},
                                       std::nullopt,
                                       look_ahead});
    }
    return all;
}

std::string objection(const Parameters& parameters, int ranks) {
    const Grid& grid = parameters.grid;
    if (grid.size() > ranks)
        return fmt::format("a grid of {} x {} needs {} ranks, but the job has {}: start it with kumiki-run -n {}, or "
                           "choose a smaller grid",
                           grid.rows, grid.columns, grid.size(), ranks, grid.size());
    const std::vector<double>& weights = parameters.weights;
    if (weights.empty()) return {};
    if (weights.size() != static_cast<std::size_t>(grid.columns))
        return fmt::format("--weights has {} numbers, but a grid of {} x {} has {} process columns: give one for each",
                           weights.size(), grid.rows, grid.columns, grid.columns);
    if (std::accumulate(weights.begin(), weights.end(), 0.0) <= 0)
        return "--weights: all are 0, so that nobody would have any columns; give one that is larger";
    return {};
}

} // namespace kumiki::linpack
