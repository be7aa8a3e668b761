// Errors: a wrong call is refused with a sentence before anything is written, and the job continues.
//
//     kumiki-run -n 2 ./error
#include <array>
#include <functional>
#include <iostream>
#include <kumiki/kumiki.hpp>

/// The sentence for a call that must fail with `status`.
std::string sentence(kumiki_status status, const std::function<void()>& call) {
    try {
        call();
    } catch (const kumiki::Error& error) {
        if (error.status() == status) return error.what();
        throw;
    }
    throw std::runtime_error("a wrong call was not refused");
}

int main() try {
    kumiki::Job job;
    auto region = job.allocate<double>(8);
    double variable = 1.5;
    const std::array<double, 4> four = {1, 2, 3, 4};

    const std::string sentences[] = {
        sentence(KUMIKI_ERROR_ARGUMENT, [&] { job.put(job.size(), region[0], 1.0); }), // there is no such rank
        sentence(KUMIKI_ERROR_REGION, [&] { job.put(0, &region[6], four); }), // extends beyond the region's end
        sentence(KUMIKI_ERROR_REGION, [&] { job.get(0, variable); }),         // not in a region at all
    };
    job.barrier(); // the job still works
    for (const double element : region)
        if (element != 0) throw std::runtime_error("a call that failed wrote something");
    if (job.rank() == 0)
        for (const std::string& text : sentences) std::cout << text << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
}
