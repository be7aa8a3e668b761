// A program outside Kumiki's tree: ranks pass a number around a ring, and each adds its own.
#include <iostream>
#include <kumiki/kumiki.hpp>

int main() try {
    kumiki::Job job;
    struct alignas(64) Place {
        int sum;
        kumiki::Signal here;
    };
    auto place = job.allocate<Place>(1);
    const auto pass_on = [&](int sum) {
        job.put_signal((job.rank() + 1) % job.size(), &place[0].sum, std::span(&sum, 1), place[0].here, 1);
    };

    if (job.rank() == 0) pass_on(0);
    job.wait(place[0].here, kumiki::Comparison::equal, 1);
    if (job.rank() != 0) pass_on(place[0].sum + job.rank());
    if (job.rank() != 0) return 0;

    if (place[0].sum != job.size() * (job.size() - 1) / 2)
        throw std::runtime_error("the ring lost count: " + std::to_string(place[0].sum));
    std::cout << "around " << job.size() << " ranks: " << place[0].sum << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << "ring: " << error.what() << '\n';
    return 1;
}
