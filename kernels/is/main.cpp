#include "kernels/common/forms.hpp"
#include "kernels/is/hybrid_exchange.hpp"
#include "kernels/is/shared_exchange.hpp"
#include "kernels/is/task.hpp"

int main(int argc, char** argv) {
    using namespace kumiki::kernels;
    const auto task = is::parse_task(argc, argv);
    return kumiki::measure::guarded(
        "is", [&] { return with_crew(task.choice, [&](auto& crew) { return is::measure_on(crew, task); }); });
}
