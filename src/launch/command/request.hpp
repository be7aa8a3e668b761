#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "error/result.hpp"

namespace kumiki::launch {

/// Which devices (accelerators) the user wants ranks to use, by the numbers that kumiki-topology gives them.
struct DeviceRequest {
    bool given = false;
    bool all = false;         ///< those of the machine
    std::vector<int> numbers; ///< otherwise these, or none
    bool divided = false;     ///< among the ranks for which the same is asked; otherwise each gets all of them

    friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
    static auto fields(auto& self) { return std::tie(self.given, self.all, self.numbers, self.divided); }
};

/// Reads "all", "none" or "0-3,8".
Result<DeviceRequest> devices_from(std::string_view text);

/// What the user asks for in a line of a hostfile, for the ranks of a host, or of a rankfile, for one rank. The
/// launcher decides what is not asked for.
struct Request {
    std::vector<int> threads; ///< one number for all ranks that it is about, or one for each; empty or 0: not asked for
    std::vector<int> cores;   ///< by the numbers that kumiki-topology gives them; empty: not asked for
    DeviceRequest devices;
};

/// What the user asks for one rank.
struct RankRequest {
    int rank = 0;           ///< its number in the job
    int threads = 0;        ///< 0: not asked for
    std::vector<int> cores; ///< its own; empty: not asked for
    DeviceRequest devices = {};

    static auto fields(auto& self) { return std::tie(self.rank, self.threads, self.cores, self.devices); }
};

/// A line of a hostfile or rankfile: `[NAME] [slots=N] [threads=N,...] [cores=LIST]
/// [devices=LIST]`.
struct Line {
    std::string_view name;    ///< the first word, unless that is a KEY=VALUE
    std::optional<int> slots; ///< of a host
    Request request;
};

/// A whole number from 1 to `most`; nothing for any other text.
std::optional<int> count_from(std::string_view text, int most);

/// Calls `take` with every line of the text of a file, except empty lines; what follows a # is a comment. Stops at the
/// first failure, of `take` or of a line that is not understood, which names `file` and the line's number.
Result<> read_lines(std::string_view text, std::string_view file, const std::function<Result<>(const Line&)>& take);

/// The text of a file; `kind` is what the user calls it, for the failure.
Result<std::string> text_of(const std::string& path, std::string_view kind);

} // namespace kumiki::launch
