#pragma once

#include <iosfwd>
#include <string>

#include "linpack/run.hpp"

namespace kumiki::linpack {

/// The lines of HPL 2.3, so that what reads HPL's output reads this; remarks are lines that begin with #, which such
/// readers skip.
class Output {
public:
    explicit Output(std::ostream& out) : out_(out) {}

    /// One line, after "# ".
    void remark(const std::string& text);
    void print(const Parameters& parameters, const Outcome& outcome);
    /// Parameters that cannot be run, and why.
    void skip(const std::string& why);
    /// What came of all runs.
    void finish();

    int failed() const { return failed_; }

private:
    void print_heading();
    void print_residual(const Residual& residual, double threshold);

    std::ostream& out_;
    bool heading_due_ = true;
    bool checked_ = true;
    int passed_ = 0, failed_ = 0, skipped_ = 0;
};

} // namespace kumiki::linpack
