// Put with signal: data, and a word beside them that announces their arrival. Only the two ranks involved synchronise.
//
//     kumiki-run -n 2 ./put_signal
#include <array>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <numeric>

// Seven numbers and their signal are 64 bytes: they travel together in one cache line, which is the fastest way.
struct alignas(64) Packet {
    std::array<double, 7> values;
    kumiki::Signal filled;
};

int main() try {
    kumiki::Job job;
    const int right = (job.rank() + 1) % job.size();
    const int left = (job.rank() + job.size() - 1) % job.size();
    auto inbox = job.allocate<Packet>(1);
    Packet& packet = inbox[0];

    std::array<double, 7> values;
    std::iota(values.begin(), values.end(), 100.0 * job.rank());
    job.put_signal(right, packet.values.data(), values, packet.filled, 1);

    job.wait(packet.filled, kumiki::Comparison::equal, 1); // a rank that sees the signal also sees the data
    const double sum = std::accumulate(packet.values.begin(), packet.values.end(), 0.0);
    if (sum != 7 * 100.0 * left + 21)
        throw std::runtime_error("the signal came before the data: their sum is " + std::to_string(sum));

    if (job.rank() == 0) std::cout << "rank 0 got seven numbers from rank " << left << ", sum " << sum << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << "put_signal: " << error.what() << '\n';
    return 1;
}
