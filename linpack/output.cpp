#include "linpack/output.hpp"

#include <fmt/ostream.h>

#include <ctime>

namespace kumiki::linpack {

namespace {

const std::string line_of_equals(80, '='), line_of_dashes(80, '-');

char letter(Looking looking) { return looking == Looking::left ? 'L' : looking == Looking::crout ? 'C' : 'R'; }

/// The word under T/V: wall time, order of the ranks, depth of the look-ahead, broadcast, and how panels are factored.
std::string variant_word(const Parameters& parameters) {
    const Variant& variant = parameters.variant;
    const int depth = parameters.look_ahead == LookAhead::none ? 0 : 1;
    const auto broadcast = static_cast<int>(parameters.travel.broadcast);
    return fmt::format("W{}{}{}{}{}{}{}", parameters.grid.by_rows ? 'R' : 'C', depth, broadcast,
                       letter(variant.recursive), variant.parts, letter(variant.leaf), variant.least);
}

/// As ctime() writes it, which ends with a new line.
std::string time_line(std::chrono::system_clock::time_point time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[64];
    return {text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y\n", &parts)};
}

} // namespace

void Output::remark(const std::string& text) {
    fmt::print(out_, "# {}\n", text);
    out_.flush();
}

/// With a check the heading comes before each run, without only before the first, as in HPL.
void Output::print_heading() {
    if (!heading_due_) return;
    fmt::print(out_, "{}\n", line_of_equals);
    fmt::print(out_, "T/V                N    NB     P     Q               Time                 Gflops\n");
    fmt::print(out_, "{}\n", line_of_dashes);
    heading_due_ = checked_;
}

void Output::print(const Parameters& parameters, const Outcome& outcome) {
    checked_ = outcome.residual.has_value();
    print_heading();
    fmt::print(out_, "{}{:12} {:5} {:5} {:5} {:18.2f}    {:19.4e}\n", variant_word(parameters), parameters.size,
               parameters.block, parameters.grid.rows, parameters.grid.columns, outcome.seconds,
               gigaflops(parameters.size, outcome.seconds));
    fmt::print(out_, "HPL_pdgesv() start time {}\nHPL_pdgesv() end time   {}\n", time_line(outcome.begin),
               time_line(outcome.end));
    if (outcome.residual) print_residual(*outcome.residual, parameters.threshold);
    ++(outcome.passed(parameters.threshold) ? passed_ : failed_);
    out_.flush();
}

void Output::print_residual(const Residual& residual, double threshold) {
    const bool passed = residual.scaled < threshold;
    fmt::print(out_, "{}\n", line_of_dashes);
    fmt::print(out_, "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= {:16.8e} ...... {}\n", residual.scaled,
               passed ? "PASSED" : "FAILED");
    if (passed) return;
    fmt::print(out_, "||Ax-b||_oo  . . . . . . . . . . . . . . . . . = {:18.6f}\n", residual.difference);
    fmt::print(out_, "||A||_oo . . . . . . . . . . . . . . . . . . . = {:18.6f}\n", residual.matrix_infinity);
    fmt::print(out_, "||A||_1  . . . . . . . . . . . . . . . . . . . = {:18.6f}\n", residual.matrix_one);
    fmt::print(out_, "||x||_oo . . . . . . . . . . . . . . . . . . . = {:18.6f}\n", residual.solution_infinity);
    fmt::print(out_, "||x||_1  . . . . . . . . . . . . . . . . . . . = {:18.6f}\n", residual.solution_one);
    fmt::print(out_, "||b||_oo . . . . . . . . . . . . . . . . . . . = {:18.6f}\n", residual.right_side);
}

void Output::skip(const std::string& why) {
    remark(why);
    ++skipped_;
}

void Output::finish() {
    fmt::print(out_, "{}\n\nFinished {:6} tests with the following results:\n", line_of_equals,
               passed_ + failed_ + skipped_);
    if (checked_) {
        fmt::print(out_, "         {:6} tests completed and passed residual checks,\n", passed_);
        fmt::print(out_, "         {:6} tests completed and failed residual checks,\n", failed_);
    } else fmt::print(out_, "         {:6} tests completed without checking,\n", passed_);
    fmt::print(out_, "         {:6} tests skipped because of illegal input values.\n", skipped_);
    fmt::print(out_, "{}\n\nEnd of Tests.\n{}\n", line_of_dashes, line_of_equals);
    out_.flush();
}

} // namespace kumiki::linpack
