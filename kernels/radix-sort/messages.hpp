#pragma once

#include <span>
#include <vector>

#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/job_report.hpp"

// The size of the exchange's messages: the amount that one rank sends to another in one sort (COMPaS paper, section
// 5.3).

namespace kumiki::kernels::radix_sort {

/// KiB from each rank to each other rank in one sort, by sender, and then by receiver without the sender itself.
/// `counts[w]` are the buckets of worker w's keys before the sort; each rank has `workers_of_rank` workers.
using MessageSizes = std::vector<std::vector<double>>;
MessageSizes message_sizes(std::span<const PerBucket> counts, const BucketPlan& plan, std::size_t workers_of_rank);

/// The row `radix_sort.message`, the mean over all pairs of ranks in each of the sorts; and, if `by_rank`, a row
/// `radix_sort.sent` for each sender. Empty if there is only one rank.
std::vector<measure::Row> message_rows(const JobReport& report, std::span<const MessageSizes> sorts, bool by_rank);

} // namespace kumiki::kernels::radix_sort
