// Broadcast: one rank sends its data to all others. Here these are the settings of a run and a table.
//
//     kumiki-run -n 4 ./broadcast
#include <iostream>
#include <kumiki/kumiki.hpp>
#include <vector>

struct Settings {
    double tolerance;
    std::uint64_t length;
};

int main() try {
    kumiki::Job job;
    constexpr int root = 0;

    Settings settings{};
    if (job.rank() == root) settings = {1e-6, 50000}; // read from a file, say
    job.broadcast(settings, root);

    // Now every rank knows how long the table is.
    std::vector<float> table(settings.length);
    if (job.rank() == root)
        for (std::size_t i = 0; i < table.size(); ++i) table[i] = 0.5f * static_cast<float>(i);
    job.broadcast(table, root);

    if (settings.tolerance != 1e-6 || table.size() != 50000) throw std::runtime_error("the settings did not arrive");
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table[i] != 0.5f * static_cast<float>(i))
            throw std::runtime_error("entry " + std::to_string(i) + " of the table is wrong");

    if (job.rank() == job.size() - 1)
        std::cout << "rank " << job.rank() << " knows a table of " << table.size() << " entries, the last is "
                  << table.back() << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << "broadcast: " << error.what() << '\n';
    return 1;
}
