#include "kernels/radix-sort/forms.hpp"
#include "kernels/radix-sort/single_process.hpp"

namespace kumiki::kernels::radix_sort {

int run_sequential(const Task& task) {
    LocalSort local_sort(task.kernel);
    const Outcome outcome = measure_in_one_process(task, [&](std::span<Key> keys, Phases&) {
        local_sort(keys);
        return keys;
    });
    return conclude(task, report_of(task, "kumiki", 1, 1), outcome);
}

} // namespace kumiki::kernels::radix_sort
