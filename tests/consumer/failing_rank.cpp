// A rank fails by an exception while it owns a region and a team, and the others wait for it:
// the failure must be seen at once.
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job;
    auto region = job.allocate<kumiki::Signal>(1);
    kumiki::Team team(job, 2);
    if (job.rank() == 0)
        team.run([](kumiki::Member& me) {
            if (me.master()) throw std::runtime_error("the master of rank 0 gives up");
            me.barrier();
        });
    job.wait(region[0], kumiki::Comparison::equal, 1); // no rank raises it
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 5;
}
