#include "openmp/ranks/process/standard_output.hpp"

#include <array>
#include <cstdio>
#include <stdio_ext.h>
#include <utility>

namespace kumiki::openmp {
namespace {

/// The C library's own buffer would cut lines of more than 4096 bytes.
std::array<char, std::size_t{64} << 10> buffer; // NOLINT: the C library uses it until the process ends

} // namespace

StandardOutput::StandardOutput() {
    if (__fbufsize(stdout) == 0) std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size()); // it has not been used yet
}

void StandardOutput::begin_lines() {
    const bool is_buffered = __fbufsize(stdout) > 1 && __flbf(stdout) == 0;
    if (is_buffered && !std::exchange(has_begun_, true)) std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

void StandardOutput::end_lines() {
    if (std::exchange(has_begun_, false) && __flbf(stdout) != 0) std::setvbuf(stdout, nullptr, _IOFBF, 0);
}

} // namespace kumiki::openmp
