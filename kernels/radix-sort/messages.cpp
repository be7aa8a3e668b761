#include "kernels/radix-sort/messages.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace kumiki::kernels::radix_sort {
namespace {

double mean(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The total that is sent in one sort.
std::vector<double> all_of(const MessageSizes& sizes) {
    std::vector<double> all;
    for (const auto& sent : sizes) all.insert(all.end(), sent.begin(), sent.end());
    return all;
}

std::string range_of(std::span<const double> sizes) {
    const auto [least, most] = std::ranges::minmax(sizes);
    char text[96];
    std::snprintf(text, sizeof text, "one rank sends from %.5g to %.5g KiB to another in one sort", least, most);
    return text;
}

measure::Row row_of(const JobReport& report, const char* figure) {
    measure::Row row{
        report.program + "." + figure, report.implementation, report.parameters, "KiB", measure::Better::lower, {}};
    row.validated = report.validated;
    row.oversubscribed = report.oversubscribed;
    return row;
}

} // namespace

MessageSizes message_sizes(std::span<const PerBucket> counts, const BucketPlan& plan, std::size_t workers_of_rank) {
    const std::size_t ranks = counts.size() / workers_of_rank;
    MessageSizes sizes(ranks);
    for (std::size_t from = 0; from < ranks; ++from)
        for (std::size_t to = 0; to < ranks; ++to) {
            if (to == from) continue;
            const auto first = static_cast<int>(to * workers_of_rank);
            const Range buckets{plan.buckets_of(first).begin,
                                plan.buckets_of(first + static_cast<int>(workers_of_rank) - 1).end};
            std::uint64_t keys = 0;
            for (const PerBucket& held : counts.subspan(from * workers_of_rank, workers_of_rank))
                keys += keys_in(held, buckets);
            sizes[from].push_back(static_cast<double>(keys * sizeof(Key)) / 1024);
        }
    return sizes;
}

std::vector<measure::Row> message_rows(const JobReport& report, std::span<const MessageSizes> sorts, bool by_rank) {
    if (sorts.empty() || sorts.front().size() < 2) return {};
    std::vector<measure::Row> rows{row_of(report, "message")};
    for (const MessageSizes& sizes : sorts) rows.front().samples.push_back(mean(all_of(sizes)));
    rows.front().note = range_of(all_of(sorts.back()));
    for (std::size_t rank = 0; by_rank && rank < sorts.front().size(); ++rank) {
        measure::Row row = row_of(report, "sent");
        row.parameters["rank"] = static_cast<std::int64_t>(rank);
        for (const MessageSizes& sizes : sorts) row.samples.push_back(mean(sizes[rank]));
        row.note = range_of(sorts.back()[rank]);
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace kumiki::kernels::radix_sort
