#pragma once

#include <span>
#include <vector>

#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/job_report.hpp"

// How large the messages of the exchange are: what one rank sends to another in one sort (COMPaS paper, section 5.3).

namespace kumiki::kernels::radix_sort {

/// KiB from each rank to each other one in one sort, by sender, and then by receiver without the sender itself.
/// `counts[w]` are the buckets of worker w's keys before the sort, and each rank has so many workers.
using MessageSizes = std::vector<std::vector<double>>;
MessageSizes message_sizes(std::span<const PerBucket> counts, const BucketPlan& plan, std::size_t workers_of_rank);

/// The row `radix_sort.message`, the mean over all pairs of ranks in each of the sorts; and where `by_rank` for each
/// sender a row `radix_sort.sent`. None where there is one rank alone.
std::vector<measure::Row> message_rows(const JobReport& report, std::span<const MessageSizes> sorts, bool by_rank);

} // namespace kumiki::kernels::radix_sort
