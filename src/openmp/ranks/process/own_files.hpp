#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "openmp/ranks/process/file_calls.hpp"

namespace kumiki::openmp {

/// The files of this process, as others read, move and close them.
class OwnFiles {
public:
    /// The program begins: what is open now is none of its files, so that others do not close it.
    void begin();
    /// Makes a call that another process asks for; one thread at a time.
    FileCalls::Answer make(const FileCalls::Request& request);

private:
    FileCalls::Answer call_for_stream(std::FILE* stream, const FileCalls::Request& request);
    void give_back(std::FILE* stream, std::size_t place, std::size_t bytes);

    FileCalls::Answer call_for_descriptor(int file, const FileCalls::Request& request) const;

    std::set<int> not_programs_;
    std::map<std::size_t, std::string> last_; ///< what was last read of streams, by place
};

} // namespace kumiki::openmp
