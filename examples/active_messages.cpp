// Active messages: a function that runs at another rank with a copy of the payload sent to it.
//
//     kumiki-run -n 4 ./active_messages
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job;
    auto counter = job.allocate<kumiki::Signal>(1);
    kumiki::Signal& arrived = counter[0];
    double largest = -1;
    int sender = -1;

    // Handlers of one rank run one at a time, so they need no lock among themselves. They must not wait.
    const int report = job.on_message<double>([&](int source, const double& temperature) {
        if (temperature > largest) {
            largest = temperature;
            sender = source;
        }
        job.signal(job.rank(), arrived, 1, kumiki::SignalOperation::add); // wakes the thread that waits below
    });

    // Every rank reports a temperature to rank 0; the last rank is the warmest.
    job.send_active(0, report, 20.0 + job.rank());

    if (job.rank() == 0) {
        job.wait(arrived, kumiki::Comparison::equal, static_cast<std::uint64_t>(job.size()));
        if (sender != job.size() - 1 || largest != 20.0 + sender)
            throw std::runtime_error("a report was lost or changed on its way");
        std::cout << job.size() << " reports; rank " << sender << " is the warmest with " << largest << " degrees\n";
    }
    job.barrier(); // the handler uses local variables, so no rank may return while a message may arrive
    return 0;
} catch (const std::exception& error) {
    std::cerr << "active_messages: " << error.what() << '\n';
    return 1;
}
