// All-to-all with pieces of different lengths: every number goes to the rank that owns it, as in a parallel sort.
//
//     kumiki-run -n 4 ./all_to_all_v
#include <algorithm>
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <numeric>
#include <random>
#include <vector>

int main() try {
    kumiki::Job job;
    const auto ranks = static_cast<std::uint32_t>(job.size()), me = static_cast<std::uint32_t>(job.rank());
    const auto owner = [ranks](std::uint32_t number) { return number % ranks; };

    // Random numbers, sorted by owner, and the count for each owner.
    std::vector<std::uint32_t> numbers(1000 + 100 * me);
    std::generate(numbers.begin(), numbers.end(), std::mt19937(me));
    std::ranges::sort(numbers, {}, owner);
    std::vector<std::size_t> sent(ranks), received(ranks);
    for (const std::uint32_t number : numbers) ++sent[owner(number)];

    job.all_to_all(sent, received); // first the lengths, then the numbers themselves
    std::vector<std::uint32_t> mine(std::accumulate(received.begin(), received.end(), std::size_t{0}));
    job.all_to_all_v(numbers, sent, mine, received);

    // No number is lost: the sum over all ranks is the same as before. Every number is at its owner.
    const auto sum = [&](const auto& of) {
        return job.all_reduce(std::accumulate(of.begin(), of.end(), std::uint64_t{0}), kumiki::Operation::sum);
    };
    if (sum(numbers) != sum(mine)) throw std::runtime_error("numbers were lost or changed");
    if (!std::ranges::all_of(mine, [&](std::uint32_t number) { return owner(number) == me; }))
        throw std::runtime_error("a number went astray");

    std::cout << "rank " << me << " sent " << numbers.size() << " numbers and owns " << mine.size() << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << "all_to_all_v: " << error.what() << '\n';
    return 1;
}
