#include "openmp/places.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string>

namespace kumiki::openmp {
namespace {

/// Reads a text piece by piece.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool at_end() {
        skip_blanks();
        return rest_.empty();
    }
    bool take(char letter) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != letter) return false;
        rest_.remove_prefix(1);
        return true;
    }
    std::optional<long> number() {
        skip_blanks();
        long value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) return {};
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }

private:
    void skip_blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    }
    std::string_view rest_;
};

/// What follows a number or place: `:length:stride`, of which both may be missing.
struct Repetition {
    long length = 1, stride = 1;
};

std::optional<Repetition> repetition(Reader& reader) {
    constexpr long most = 1 << 16;
    Repetition found;
    if (!reader.take(':')) return found;
    const auto length = reader.number();
    if (!length || *length < 1 || *length > most) return {};
    found.length = *length;
    if (!reader.take(':')) return found;
    const auto stride = reader.number();
    if (!stride) return {};
    found.stride = *stride;
    return found;
}

/// Processors of one place: {0,1,!2,4:2:8}.
std::optional<Place> read_place(Reader& reader) {
    Place place;
    do {
        const bool excluded = reader.take('!');
        const auto first = reader.number();
        if (!first) return {};
        const auto times = excluded ? Repetition{} : repetition(reader);
        if (!times) return {};
        for (long i = 0; i < times->length; ++i) {
            const long cpu = *first + i * times->stride;
            if (cpu < 0 || cpu > 1 << 16) return {};
            if (excluded) std::erase(place, static_cast<int>(cpu));
            else place.push_back(static_cast<int>(cpu));
        }
    } while (reader.take(','));
    if (!reader.take('}')) return {};
    return place;
}

/// Leaves out what the process may not use.
void add_usable(std::vector<Place>& places, const Place& place, const std::vector<int>& cpus) {
    Place usable;
    for (const int cpu : place)
        if (std::ranges::find(cpus, cpu) != cpus.end()) usable.push_back(cpu);
    if (!usable.empty()) places.push_back(std::move(usable));
}

std::vector<Place> read_list(std::string_view text, const std::vector<int>& cpus) {
    Reader reader(text);
    std::vector<Place> places;
    do {
        const bool excluded = reader.take('!');
        Place place;
        if (reader.take('{')) {
            auto read = read_place(reader);
            if (!read) return {};
            place = std::move(*read);
        } else if (const auto cpu = reader.number()) {
            place = {static_cast<int>(*cpu)};
        } else {
            return {};
        }
        const auto times = excluded ? Repetition{} : repetition(reader);
        if (!times) return {};
        if (excluded) std::erase(places, place);
        for (long i = 0; !excluded && i < times->length; ++i) {
            add_usable(places, place, cpus);
            for (int& cpu : place) cpu += static_cast<int>(times->stride);
        }
    } while (reader.take(','));
    return reader.at_end() ? places : std::vector<Place>{};
}

/// The file by which the kernel tells which processors belong together, read as text: all members of a group have the
/// same.
std::string group_of(std::string_view kind, int cpu) {
    const auto read = [](const std::string& path) {
        std::ifstream file(path);
        std::string line;
        std::getline(file, line);
        return line;
    };
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/", cpu);
    if (kind == "cores") return read(folder + "topology/thread_siblings_list");
    if (kind == "sockets") return read(folder + "topology/physical_package_id");
    if (kind == "ll_caches")
        for (int level = 4; level >= 0; --level)
            if (auto sharers = read(fmt::format("{}cache/index{}/shared_cpu_list", folder, level)); !sharers.empty())
                return sharers;
    if (kind == "numa_domains")
        for (int node = 0; node < 1024; ++node)
            if (std::ifstream(fmt::format("{}node{}/cpulist", folder, node))) return std::to_string(node);
    return kind == "threads" ? std::to_string(cpu) : std::string("all");
}

} // namespace

std::vector<Place> places_of_kind(std::string_view kind, const std::vector<int>& cpus) {
    constexpr std::string_view kinds[] = {"threads", "cores", "ll_caches", "numa_domains", "sockets"};
    if (std::ranges::find(kinds, kind) == std::end(kinds)) return {};
    std::vector<std::string> groups;
    std::vector<Place> places;
    for (const int cpu : cpus) {
        const auto group = group_of(kind, cpu);
        const auto found = static_cast<std::size_t>(std::ranges::find(groups, group) - groups.begin());
        if (found == groups.size()) {
            groups.push_back(group);
            places.emplace_back();
        }
        places[found].push_back(cpu);
    }
    return places;
}

std::vector<Place> read_places(std::string_view text, const std::vector<int>& cpus) {
    const auto open = text.find('(');
    auto name = text.substr(0, open);
    while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
    auto places = places_of_kind(name, cpus);
    if (places.empty()) return read_list(text, cpus);
    if (open == std::string_view::npos) return places;
    Reader reader(text.substr(open + 1));
    const auto count = reader.number();
    if (!count || *count < 1 || !reader.take(')') || !reader.at_end()) return {};
    if (static_cast<std::size_t>(*count) < places.size()) places.resize(static_cast<std::size_t>(*count));
    return places;
}

std::vector<Place> read_cpu_affinity(std::string_view text, const std::vector<int>& cpus) {
    Reader reader(text);
    std::vector<Place> places;
    while (!reader.at_end()) {
        const auto first = reader.number();
        if (!first || *first < 0) return {};
        long last = *first, stride = 1;
        if (reader.take('-')) {
            const auto end = reader.number();
            if (!end || *end < *first) return {};
            last = *end;
            if (reader.take(':')) {
                const auto step = reader.number();
                if (!step || *step < 1) return {};
                stride = *step;
            }
        }
        for (long cpu = *first; cpu <= last; cpu += stride) add_usable(places, {static_cast<int>(cpu)}, cpus);
        reader.take(',');
    }
    return places;
}

Seats seats_for(Bind bind, int threads, int master_place, Partition partition, int all_places) {
    Seats seats;
    if (bind == Bind::no || all_places == 0) return seats;
    if (partition.length == 0) partition = {0, all_places};
    const long length = partition.length, parts = std::min<long>(threads, length);
    const long start = master_place < partition.first ? 0 : (master_place - partition.first) % length;
    // Where part number `part` begins, if the places are divided evenly.
    const auto begin = [&](long part) { return part * length / parts; };
    long first = 0; // the part in which the master sits
    while (begin(first + 1) <= start) ++first;
    for (long thread = 0; thread < threads; ++thread) {
        const long turn = thread * parts / threads; // with fewer places than threads, neighbours share one
        long place = start;
        Partition own = partition;
        if (bind == Bind::spread) {
            const long part = (first + turn) % parts;
            if (turn != 0) place = begin(part);
            own = {partition.first + static_cast<int>(begin(part)), static_cast<int>(begin(part + 1) - begin(part))};
        } else if (bind != Bind::primary) {
            place = (start + turn) % length;
        }
        seats.places.push_back(partition.first + static_cast<int>(place));
        seats.partitions.push_back(own);
    }
    return seats;
}

} // namespace kumiki::openmp
