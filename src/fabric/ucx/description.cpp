#include "fabric/ucx/description.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace kumiki::fabric::ucx {
namespace {

/// The lines that print(stream) writes.
template <class Print>
std::vector<std::string> lines_of(Print print) {
    char* text = nullptr;
    std::size_t length = 0;
    FILE* const stream = open_memstream(&text, &length);
    if (stream == nullptr) return {};
    print(stream);
    std::fclose(stream);
    std::istringstream all(std::string(text, length));
    std::free(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
}

/// The number n of "name[n]:" in the line; nothing when there is none.
std::size_t index_after(const std::string& line, std::string_view name, std::size_t none) {
    const auto found = line.find(name);
    if (found == line.npos) return none;
    std::size_t number = none;
    std::from_chars(line.data() + found + name.size(), line.data() + line.size(), number);
    return number;
}

} // namespace

/// The lines are "# resource 0 : md 0 dev 0 flags -- tcp/eth0".
std::vector<std::string> transports_of(ucp_context_h context) {
    std::vector<std::string> found;
    for (const std::string& line : lines_of([=](FILE* to) { ucp_context_print_info(context, to); })) {
        constexpr std::string_view mark = " -- ";
        const auto at = line.find(mark);
        if (line.find("resource") != line.npos && at != line.npos) found.push_back(line.substr(at + mark.size()));
    }
    return found;
}

/// The lines are "# lane[0]: 2:sysv/memory.0 md[1] -> ..." and "# put[0]: 0..<short>..".
std::vector<Lane> lanes_of(ucp_ep_h connection) {
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<Lane> found;
    for (const std::string& line : lines_of([=](FILE* to) { ucp_ep_print_info(connection, to); })) {
        if (index_after(line, "lane[", none) == found.size()) {
            const auto begin = line.find(':', line.find("]:") + 2);
            const auto end = line.find(" md[");
            if (begin == line.npos || end == line.npos || end < begin) break;
            found.push_back({line.substr(begin + 1, end - begin - 1)});
        } else if (const auto lane = index_after(line, " put[", none); lane < found.size()) found[lane].for_puts = true;
    }
    return found;
}

/// "{proto|init} put from host memory length 8 zero-copy cma/memory 12.9 MB/s 0.59 us", or "... <no debug info>".
std::string protocol_of(void* request) {
    std::array<char, 512> text{};
    ucp_request_attr_t asked{};
    asked.field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING | UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
    asked.debug_string = text.data();
    asked.debug_string_size = text.size();
    if (ucp_request_query(request, &asked) != UCS_OK) return {};
    std::string said(text.data());
    const auto begin = std::min(said.find("put from"), said.find("get into"));
    return begin == said.npos ? std::string() : said.substr(begin);
}

namespace {

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& names, const std::string& transport) {
    return std::ranges::find(names, std::string_view(transport).substr(0, transport.find('/'))) != names.end();
}

} // namespace

bool is_fast_network(const std::string& transport) {
    static constexpr std::array<std::string_view, 8> names = {"rc_verbs", "rc_mlx5", "dc_mlx5",  "ud_verbs",
                                                              "ud_mlx5",  "srd",     "ugni_udt", "ugni_smsg"};
    return is_one_of(names, transport);
}

bool writes_itself(const std::string& transport) {
    static constexpr std::array<std::string_view, 7> able = {"rc_verbs",  "rc_mlx5", "dc_mlx5", "gga_mlx5",
                                                             "ugni_rdma", "cma",     "xpmem"};
    return is_one_of(able, transport);
}

} // namespace kumiki::fabric::ucx
