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
    bool all = false;         ///< all devices of the machine
    std::vector<int> numbers; ///< otherwise these; empty: none
    bool divided = false;     ///< among the ranks with the same request; otherwise each of them gets all of the devices

    friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
    static auto fields(auto& self) { return std::tie(self.given, self.all, self.numbers, self.divided); }
};

/// Reads "all", "none" or "0-3,8".
Result<DeviceRequest> devices_from(std::string_view text);

/// The request in a line of a hostfile, for the ranks of a host, or of a rankfile, for one rank. The launcher decides
/// everything that is not requested.
struct Request {
    std::vector<int> threads; ///< one number for all ranks of the line, or one for each; empty or 0: not requested
    std::vector<int> cores;   ///< by the numbers that kumiki-topology gives them; empty: not requested
    DeviceRequest devices;
};

/// The user's request for one rank.
struct RankRequest {
    int rank = 0;           ///< number in the job
    int threads = 0;        ///< 0: not requested
    std::vector<int> cores; ///< its own; empty: not requested
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

/// Calls `take` for every line in the text of a file, except for empty lines; a # begins a comment. Stops at the first
/// failure, either of `take` or because a line is malformed; that failure names `file` and the line's number.
Result<> read_lines(std::string_view text, std::string_view file, const std::function<Result<>(const Line&)>& take);

/// The text of a file; `kind` is the user's word for such a file, for the error message.
Result<std::string> text_of(const std::string& path, std::string_view kind);

} // namespace kumiki::launch
