// Messages: every rank sends work to the others and receives messages in the order of their arrival.
//
//     kumiki-run -n 4 ./messages
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <numeric>
#include <vector>

constexpr int numbers = 1, sum = 2; // tags: the purpose of a message

int main() try {
    kumiki::Job job;
    // Each rank is sent as many numbers as its rank, and there is room for the answers.
    std::vector<double> work(100), answers(static_cast<std::size_t>(job.size()));
    std::iota(work.begin(), work.end(), 1.0);
    std::vector<kumiki::Request> requests;
    for (int rank = 0; rank < job.size(); ++rank) {
        requests.push_back(job.receive(rank, sum, answers[static_cast<std::size_t>(rank)]));
        requests.push_back(job.send(rank, numbers, std::span(work).first(static_cast<std::size_t>(rank % 100))));
    }
    for (int received = 0; received < job.size(); ++received) {
        const auto coming = job.probe(kumiki::any, numbers); // the source and the length of the next message
        std::vector<double> mine(coming.count<double>());
        job.receive(coming.source, numbers, mine).wait();
        job.send(coming.source, sum, std::accumulate(mine.begin(), mine.end(), 0.0)).wait();
    }
    kumiki::wait_all(requests);

    for (int rank = 0; rank < job.size(); ++rank)
        if (const int n = rank % 100; answers[static_cast<std::size_t>(rank)] != n * (n + 1) / 2)
            throw std::runtime_error("rank " + std::to_string(rank) + " has added up wrongly");
    if (job.rank() == 0) std::cout << job.size() << " ranks have added up numbers for each other\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << "messages: " << error.what() << '\n';
    return 1;
}
