#include "openmp/ranks/process/streams.hpp"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>
#include <utility>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "platform/kernel_memory.hpp"
#include "openmp/ranks/process/descriptors.hpp"
#include "openmp/ranks/process/stream_places.hpp"
#include "openmp/ranks/process/ties.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/next_function.hpp"
#include "platform/write_all.hpp"

namespace kumiki::openmp {

/// In the program's heap, with the text behind it.
struct Block {
    Block* next;
    Streams::File to;
    std::size_t bytes;
    char* text() { return reinterpret_cast<char*>(this + 1); }
};

namespace {

Streams* the_streams = nullptr;

/// Where the next stream goes that this thread opens.
thread_local StreamPlaces::Place* next_place = nullptr;

} // namespace

StreamPlaces the_places; // NOLINT: see there

Streams::Streams(Ranks& ranks, std::span<Inbox*> inboxes, FileCalls& calls)
    : ranks_(ranks),
      inboxes_(inboxes.begin(), inboxes.end()),
      own_(*inboxes[static_cast<std::size_t>(ranks.rank())]),
      remote_files_(*this, calls) {
    const std::size_t each = the_places.all.size() / inboxes_.size(), own = static_cast<std::size_t>(ranks.rank());
    for (std::size_t place = 0; place < each * inboxes_.size(); ++place)
        if (place / each != own) stand_in(place);
    the_places.first = own * each;
    the_places.end = the_places.first + each;
    the_streams = this;
}

/// The stream is not buffered, so that nothing of it stays in the C library.
void Streams::stand_in(std::size_t place) {
    static const auto place_of = [](void* cookie) { return reinterpret_cast<std::size_t>(cookie); };
    constexpr cookie_io_functions_t functions{
        .read = [](void* cookie, char* to, std::size_t bytes) -> ssize_t {
            return the_streams->remote_files_.read(place_of(cookie), to, bytes);
        },
        .write = [](void* cookie, const char* text, std::size_t bytes) -> ssize_t {
            const std::size_t at = place_of(cookie);
            the_streams->remote_files_.give_back(at);
            the_streams->keep({owner_of(at), at}, {text, bytes});
            return static_cast<ssize_t>(bytes);
        },
        .seek = [](void* cookie, off64_t* offset, int whence) -> int {
            return the_streams->remote_files_.move(place_of(cookie), *offset, whence);
        },
        .close = [](void*) -> int { refuse_other_uses(); }};
    next_place = &the_places.all[place];
    std::FILE* const stream = fopencookie(reinterpret_cast<void*>(place), "r+", functions);
    next_place = nullptr;
    if (stream != nullptr) std::setvbuf(stream, nullptr, _IONBF, 0);
}

int Streams::owner_of(std::size_t place) { return static_cast<int>(place / (the_places.end - the_places.first)); }

RemoteFiles* Streams::remote_files() { return the_streams == nullptr ? nullptr : &the_streams->remote_files_; }

void* Streams::memory_for_stream(std::size_t bytes) {
    if (next_place == nullptr || bytes < sizeof(std::FILE) || bytes > sizeof(StreamPlaces::Place)) return nullptr;
    return std::exchange(next_place, nullptr);
}

bool Streams::release(const void* memory) {
    if (!the_places.has(memory)) return false;
    const std::lock_guard lock(the_places.mutex);
    the_places.used.reset(the_places.number(memory));
    return true;
}

bool Streams::has_place(const std::FILE* stream) { return the_places.has(stream); }

bool Streams::is_elsewhere(const std::FILE* stream) {
    if (the_streams == nullptr || !has_place(stream)) return false;
    const std::size_t place = the_places.number(stream);
    return place < the_places.first || place >= the_places.end;
}

bool Streams::is_open(std::size_t place) {
    const std::lock_guard lock(the_places.mutex);
    return the_places.used[place];
}

/// When no place is left the stream is an ordinary one, which only this process can use.
void Streams::begin_opening() {
    const std::lock_guard lock(the_places.mutex);
    for (std::size_t place = the_places.first; place < the_places.end; ++place)
        if (!the_places.used[place]) {
            the_places.used.set(place);
            next_place = &the_places.all[place];
            return;
        }
}

std::FILE* Streams::end_opening(std::FILE* stream) {
    if (next_place != nullptr) release(std::exchange(next_place, nullptr)); // the C library has not asked for it
    return stream;
}

// -- what is written --

bool Streams::File::goes_on_as(const File& next, std::size_t bytes) const {
    if (owner != next.owner || place != next.place || descriptor != next.descriptor) return false;
    return at ? next.at == *at + static_cast<off64_t>(bytes) : !next.at;
}

void Streams::keep(const File& to, std::string text) {
    const std::lock_guard lock(mutex_);
    if (!pieces_.empty() && pieces_.back().to.goes_on_as(to, pieces_.back().text.size())) pieces_.back().text += text;
    else pieces_.push_back({to, std::move(text)});
    has_pieces_.store(true, std::memory_order_relaxed);
}

int Streams::descriptor_of(const std::FILE* stream) {
    return descriptors_of_streams + static_cast<int>(the_places.number(stream));
}

std::optional<Streams::File> Streams::file_elsewhere(int file, std::optional<off64_t> at) {
    if (the_streams == nullptr) return {};
    if (file < descriptors_of_streams) {
        const auto owner = other_owner(file);
        if (!owner || !the_streams->ranks_.is_own_process()) return {}; // a child closes what it finds
        return File{*owner, 0, file, at};
    }
    const auto place = static_cast<std::size_t>(file - descriptors_of_streams);
    if (place >= the_places.all.size() || !is_elsewhere(the_places.stream(place))) return {};
    return File{owner_of(place), place, no_descriptor, at};
}

std::optional<int> Streams::owner_of(int file) {
    const auto known = file_elsewhere(file, {});
    if (!known) {
        errno = EBADF;
        return {};
    }
    return known->owner;
}

ssize_t Streams::write(int file, std::span<const iovec> from, std::optional<off64_t> at) {
    const auto to = file_elsewhere(file, at);
    if (!to) {
        errno = EBADF;
        return -1;
    }
    if (to->descriptor == no_descriptor && at) refuse_other_uses();
    std::string text; // a copy, because the memory may fault
    for (const iovec& piece : from) text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    const auto bytes = static_cast<ssize_t>(text.size());
    the_streams->keep(*to, std::move(text));
    return bytes;
}

/// A thread whose text another one is just passing on waits until that is done.
void Streams::pass_on_pieces() {
    const std::lock_guard passing_on(passing_on_);
    std::vector<Piece> pieces;
    {
        const std::lock_guard lock(mutex_);
        pieces.swap(pieces_);
    }
    for (const Piece& piece : pieces) {
        auto* const block = static_cast<Block*>(ranks_.allocate(sizeof(Block) + piece.text.size(), alignof(Block)));
        if (block == nullptr) ranks_.refuse("a file that another process has opened, and more memory than there is");
        *block = {nullptr, piece.to, piece.text.size()};
        std::memcpy(block->text(), piece.text.data(), piece.text.size());
        Inbox& inbox = *inboxes_[static_cast<std::size_t>(piece.to.owner)];
        ranks_.acquire(Ranks::stream_lock);
        (inbox.first == nullptr ? inbox.first : inbox.last->next) = block;
        inbox.last = block;
        ranks_.release(Ranks::stream_lock);
    }
    const std::lock_guard lock(mutex_);
    if (pieces_.empty()) has_pieces_.store(false, std::memory_order_release);
}

bool Streams::try_take_in() {
    const std::unique_lock taking_in(taking_in_, std::try_to_lock);
    if (taking_in) take_in();
    return taking_in.owns_lock();
}

void Streams::take_in_blocks() {
    const std::lock_guard taking_in(taking_in_);
    ranks_.acquire(Ranks::stream_lock);
    Block* block = std::exchange(own_.first, nullptr);
    ranks_.release(Ranks::stream_lock);
    while (block != nullptr) {
        // Copies, because the kernel would not repair their pages.
        write_here(File(block->to), std::string(block->text(), block->bytes));
        ranks_.heap().release(std::exchange(block, block->next));
    }
    ranks_.fortran_units().write_kept();
}

void Streams::write_here(const File& to, const std::string& text) {
    if (to.descriptor == no_descriptor) {
        if (!is_open(to.place)) return;
        std::FILE* const stream = the_places.stream(to.place);
        std::fwrite(text.data(), 1, text.size(), stream);
        std::fflush(stream); // what a file stream of C++ writes next bypasses the C library's buffer
        return;
    }
    const bool written =
        to.at ? platform::write_all_at(to.descriptor, text, *to.at) : platform::write_all(to.descriptor, text);
    if (!written)
        ranks_.check(fail(KUMIKI_ERROR_ENVIRONMENT,
                          fmt::format("it cannot write what another process has written to its descriptor {}: {}",
                                      to.descriptor, std::strerror(errno))));
}

} // namespace kumiki::openmp

// -- functions of the C library --

namespace {

using kumiki::openmp::Streams;
using namespace kumiki::platform::kernel_memory;

} // namespace

// A function, its parameters, the names of these, and the memory that it gives to the kernel.
#define KUMIKI_STREAM_CALL(name, parameters, arguments, ...)                                                           \
    KUMIKI_ENTRY FILE* name parameters {                                                                               \
        static auto* const after = kumiki::platform::next_function(&name, #name);                                      \
        const bool by_program = kumiki::openmp::is_program(__builtin_return_address(0));                               \
        kumiki::openmp::note_tie();                                                                                    \
        const auto open = [=] { return after arguments; };                                                             \
        return make_pointer([=] { return by_program ? Streams::open(open) : open(); } __VA_OPT__(, ) __VA_ARGS__);     \
    }

KUMIKI_STREAM_CALL(fopen, (const char* path, const char* mode), (path, mode), Text{path})
KUMIKI_STREAM_CALL(fopen64, (const char* path, const char* mode), (path, mode), Text{path})
KUMIKI_STREAM_CALL(fdopen, (int file, const char* mode), (file, mode), )
KUMIKI_STREAM_CALL(tmpfile, (), (), )
KUMIKI_STREAM_CALL(tmpfile64, (), (), )
KUMIKI_STREAM_CALL(popen, (const char* command, const char* mode), (command, mode), Text{command}, Environment{})
KUMIKI_STREAM_CALL(open_memstream, (char** to, std::size_t* bytes), (to, bytes), )
KUMIKI_STREAM_CALL(fmemopen, (void* memory, std::size_t bytes, const char* mode), (memory, bytes, mode), )
KUMIKI_STREAM_CALL(fopencookie, (void* cookie, const char* mode, cookie_io_functions_t functions),
                   (cookie, mode, functions), )

// The library of C++ writes to the descriptors of its streams, by two functions of a class of its own (basic_file.h).

using File = std::__basic_file<char>;

KUMIKI_ENTRY std::streamsize kumiki_file_write(File* file, const char* text, std::streamsize bytes) {
    static const auto after =
        reinterpret_cast<decltype(&kumiki_file_write)>(dlsym(RTLD_NEXT, "_ZNSt12__basic_fileIcE6xsputnEPKcl"));
    if (!Streams::is_elsewhere(file->file())) return after(file, text, bytes);
    return static_cast<std::streamsize>(std::fwrite(text, 1, static_cast<std::size_t>(bytes), file->file()));
}

KUMIKI_ENTRY std::streamsize kumiki_file_write_both(File* file, const char* first, std::streamsize first_bytes,
                                                    const char* second, std::streamsize second_bytes) {
    static const auto after = reinterpret_cast<decltype(&kumiki_file_write_both)>(
        dlsym(RTLD_NEXT, "_ZNSt12__basic_fileIcE8xsputn_2EPKclS2_l"));
    if (!Streams::is_elsewhere(file->file())) return after(file, first, first_bytes, second, second_bytes);
    return kumiki_file_write(file, first, first_bytes) + kumiki_file_write(file, second, second_bytes);
}

__asm__(".symver kumiki_file_write, _ZNSt12__basic_fileIcE6xsputnEPKcl@GLIBCXX_3.4, remove");
__asm__(".symver kumiki_file_write_both, _ZNSt12__basic_fileIcE8xsputn_2EPKclS2_l@GLIBCXX_3.4, remove");

/// A program whose library of C++ is linked statically writes to this descriptor.
KUMIKI_ENTRY int fileno(FILE* stream) noexcept {
    static auto* const after = kumiki::platform::next_function(&fileno, "fileno");
    return Streams::is_elsewhere(stream) ? Streams::descriptor_of(stream) : after(stream);
}

KUMIKI_ENTRY int fclose(FILE* stream) {
    static auto* const after = kumiki::platform::next_function(&fclose, "fclose");
    return Streams::is_elsewhere(stream) ? Streams::remote_files()->close(stream) : after(stream);
}
