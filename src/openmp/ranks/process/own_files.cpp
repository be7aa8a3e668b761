#include "openmp/ranks/process/own_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "openmp/ranks/process/descriptors.hpp"
#include "openmp/ranks/process/stream_places.hpp"
#include "openmp/ranks/process/streams.hpp"

namespace kumiki::openmp {
namespace {

using Answer = FileCalls::Answer;
using Request = FileCalls::Request;
using What = FileCalls::What;

Answer with_error(Answer answer) {
    answer.error = errno;
    return answer;
}

/// Of a pipe or terminal no more is read than there is once its first byte has come.
std::size_t bytes_at_once(std::FILE* stream, std::size_t wanted) {
    struct stat status{};
    if (fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode)) return wanted;
    const int first = std::getc(stream);
    if (first == EOF) return 0;
    std::ungetc(first, stream);
    return std::min(wanted, static_cast<std::size_t>(stream->_IO_read_end - stream->_IO_read_ptr));
}

Answer read_stream(std::FILE* stream, std::size_t wanted) {
    Answer answer;
    answer.data.resize(bytes_at_once(stream, wanted));
    answer.data.resize(std::fread(answer.data.data(), 1, answer.data.size(), stream));
    answer.result =
        answer.data.empty() && std::ferror(stream) != 0 ? -1 : static_cast<std::int64_t>(answer.data.size());
    return with_error(std::move(answer));
}

Answer move_stream(std::FILE* stream, const Request& request) {
    if ((request.offset != 0 || request.whence != SEEK_CUR) && fseeko64(stream, request.offset, request.whence) != 0)
        return with_error({.result = -1});
    return with_error({.result = ftello64(stream)});
}

Answer read_file(int file, const Request& request) {
    Answer answer;
    answer.data.resize(request.bytes);
    answer.result = request.offset < 0 ? read(file, answer.data.data(), request.bytes)
                                       : pread64(file, answer.data.data(), request.bytes, request.offset);
    answer = with_error(std::move(answer));
    answer.data.resize(static_cast<std::size_t>(std::max<std::int64_t>(answer.result, 0)));
    return answer;
}

Answer describe_file(int file) {
    struct stat status{};
    Answer answer = with_error({.result = fstat(file, &status)});
    answer.data.assign(reinterpret_cast<const char*>(&status), sizeof status);
    return answer;
}

} // namespace

void OwnFiles::begin() {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored))
        not_programs_.insert(std::atoi(entry.path().filename().c_str()));
    std::erase_if(not_programs_, [](int file) { return fcntl(file, F_GETFD) < 0; }); // that of the folder itself
}

std::optional<Answer> OwnFiles::make(int rank, const Request& request) {
    if (request.is_stream) return call_for_stream(rank, request);
    if (request.file < descriptors_of_streams) return call_for_descriptor(static_cast<int>(request.file), request);
    const auto place = static_cast<std::size_t>(request.file - descriptors_of_streams);
    if (Streams::is_open(place)) return call_for_descriptor(fileno(the_places.stream(place)), request);
    return Answer{.result = -1, .error = EBADF};
}

std::optional<Answer> OwnFiles::call_for_stream(int rank, const Request& request) {
    const auto place = static_cast<std::size_t>(request.file);
    if (!Streams::is_open(place)) return Answer{.result = -1, .error = EBADF};
    std::FILE* const stream = the_places.stream(place);
    const auto lease = leases_.find(place);
    if (lease != leases_.end() ? lease->second != rank : ftrylockfile(stream) != 0) return {};
    Answer answer = call_for_locked(stream, request);
    if (request.what == What::read && answer.result > 0) {
        leases_[place] = rank;
        return answer;
    }
    leases_.erase(place);
    funlockfile(stream);
    if (request.what == What::close) answer = with_error({.result = std::fclose(stream)});
    return answer;
}

/// fclose() follows when the lock has been left.
Answer OwnFiles::call_for_locked(std::FILE* stream, const Request& request) {
    const auto place = static_cast<std::size_t>(request.file);
    if (request.unread > 0) give_back(stream, place, request.unread);
    switch (request.what) {
    case What::read: {
        Answer answer = read_stream(stream, request.bytes);
        last_[place] = answer.data;
        return answer;
    }
    case What::move: return move_stream(stream, request);
    case What::close: last_.erase(place); return {.result = 0};
    case What::describe: break; // by its descriptor
    }
    return {.result = -1, .error = EINVAL};
}

Answer OwnFiles::call_for_descriptor(int file, const Request& request) const {
    switch (request.what) {
    case What::read: return read_file(file, request);
    case What::move: return with_error({.result = lseek64(file, request.offset, request.whence)});
    case What::describe: return describe_file(file);
    case What::close:
        if (!not_programs_.contains(file)) return with_error({.result = close(file)});
        return {.result = -1, .error = EBADF};
    }
    return {.result = -1, .error = EINVAL};
}

/// A pipe cannot be moved, but what it gave last can be put back.
void OwnFiles::give_back(std::FILE* stream, std::size_t place, std::size_t bytes) {
    if (fseeko64(stream, -static_cast<off64_t>(bytes), SEEK_CUR) == 0) return;
    const std::string& last = last_[place];
    for (std::size_t i = 0; i < std::min(bytes, last.size()); ++i)
        std::ungetc(static_cast<unsigned char>(last[last.size() - 1 - i]), stream);
}

} // namespace kumiki::openmp
