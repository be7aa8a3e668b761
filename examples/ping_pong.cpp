// Waiting for a signal: two ranks hit a ball back and forth. The others watch.
//
//     kumiki-run -n 2 ./ping_pong
#include <chrono>
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job;
    if (job.size() < 2) throw std::runtime_error("two ranks are needed; start it by kumiki-run -n 2 ./ping_pong");
    auto court = job.allocate<kumiki::Signal>(1); // zero at every rank: nobody has hit the ball yet
    kumiki::Signal& ball = court[0];

    constexpr std::uint64_t rallies = 1000;
    job.barrier(); // both are on the court
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t rally = 1; rally <= rallies && job.rank() < 2; ++rally) {
        if (job.rank() == 0) job.signal(1, ball, rally);
        job.wait(ball, kumiki::Comparison::equal, rally); // KUMIKI_WAIT chooses how it waits (spin, yield, sleep)
        if (job.rank() == 1) job.signal(0, ball, rally);
    }
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;

    // Rank 0 reads rank 1's memory and its own.
    if (job.rank() == 0 && (ball != rallies || job.get(1, ball) != rallies))
        throw std::runtime_error("the ball was lost");
    if (job.rank() == 0)
        std::cout << rallies << " rallies, " << time.count() / (2 * rallies) << " us from rank to rank\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << "ping_pong: " << error.what() << '\n';
    return 1;
}
