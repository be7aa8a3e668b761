#pragma once

#include <span>
#include <vector>

#include "kernels/common/bucket_plan.hpp"
#include "kernels/common/job_report.hpp"

// How large the messages of the exchange are: what one rank sends to another in one sort (COMPaS paper, section 5.3).

namespace kumiki::kernels::radix_sort {

/// KiB from each rank to each other one in one sort, by sender, and then by receiver without the sender itself.
/// `counts[r]` are the buckets of rank r's keys before the sort.
using MessageSizes = std::vector<std::vector<double>>;
MessageSizes message_sizes(std::span<const PerBucket> counts, const BucketPlan& plan);

/// The row `radix_sort.message`, the mean over all pairs of ranks in each of the sorts; and where `by_rank` for each
/// sender a row `radix_sort.sent`. None where there is one rank alone.
std::vector<measure::Row> message_rows(const JobReport& report, std::span<const MessageSizes> sorts, bool by_rank);

} // namespace kumiki::kernels::radix_sort
