// Files that one thread has opened and others read, also threads of other processes: each takes what comes next.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <omp.h>
#include <string>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

constexpr int lines = 3000;
char path[64];

// Reads numbers by next(), one thread at a time, and says whether all came, in order, and that a thread has taken them.
template <class Next>
void read_all(const char* how, Next next) {
    int count = 0, wrong = 0, last = -1, takers = 0;
#pragma omp parallel reduction(+ : takers)
    {
        bool takes = false;
        for (bool is_done = false; !is_done;) {
#pragma omp critical
            {
                int number = -1;
                is_done = !next(number);
                if (!is_done) {
                    ++count;
                    wrong += number != last + 1;
                    last = number;
                    takes = true;
                }
            }
        }
        takers += takes;
    }
    std::printf("%s: %d numbers, %d wrong, %s\n", how, count, wrong, takers > 0 ? "taken" : "not taken");
}

// The same with the threads taking turns.
template <class Next>
void read_by_turns(const char* how, Next next) {
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    for (int i = 0; i < 60; ++i) {
        if (i % omp_get_num_threads() == omp_get_thread_num()) {
            int number = -1;
            wrong += !next(number) || number != i;
        }
#pragma omp barrier
    }
    std::printf("%s by turns: %d wrong\n", how, wrong);
}

bool by_lines(std::FILE* file, int& number) {
    char line[40];
    if (std::fgets(line, sizeof line, file) == nullptr) return false;
    number = std::atoi(line);
    return true;
}

bool by_format(std::FILE* file, int& number) { return std::fscanf(file, "%d", &number) == 1; }

bool by_bytes(std::FILE* file, int& number) {
    char line[9] = {};
    if (std::fread(line, 1, 8, file) != 8) return false;
    number = std::atoi(line);
    return true;
}

std::FILE* opened(const char* mode) {
    std::FILE* file = std::fopen(path, mode);
    if (file == nullptr) std::exit(1);
    return file;
}

void read_streams() {
    std::FILE* file = opened("r");
    read_all("lines", [&](int& number) { return by_lines(file, number); });
    std::rewind(file);
    read_all("numbers", [&](int& number) { return by_format(file, number); });
    std::rewind(file);
    read_by_turns("bytes", [&](int& number) { return by_bytes(file, number); });
    std::fclose(file);

    std::string command = std::string("cat ") + path;
    std::FILE* pipe = popen(command.c_str(), "r");
    read_all("a pipe", [&](int& number) { return by_format(pipe, number); });
    std::printf("closed: %d\n", pclose(pipe));

    std::ifstream stream(path);
    read_all("a file stream", [&](int& number) { return static_cast<bool>(stream >> number); });
    stream.close();
}

// Each call of the C library is one whole, also without a lock of the program; and what is in a lock of the stream.
void read_without_lock() {
    static int seen[lines];
    for (const bool by_letters : {false, true}) {
        std::FILE* file = opened("r");
        int wrong = 0;
        std::fill_n(seen, lines, 0);
#pragma omp parallel reduction(+ : wrong)
        for (bool is_done = false; !is_done;) {
            char line[40] = {};
            if (by_letters) {
                flockfile(file);
                int length = 0;
                for (int letter = 0; letter != '\n' && (letter = getc_unlocked(file)) != EOF;)
                    line[length++] = static_cast<char>(letter);
                funlockfile(file);
                is_done = length == 0;
            } else is_done = std::fgets(line, sizeof line, file) == nullptr;
            const int number = std::atoi(line);
            if (is_done) continue;
            wrong += std::string(line).size() != 8 || number < 0 || number >= lines;
#pragma omp critical
            ++seen[number % lines];
        }
        std::fclose(file);
        std::printf("without a lock: %d wrong, %d seen once\n", wrong,
                    static_cast<int>(std::count(seen, seen + lines, 1)));
    }
}

// Each thread reads its own part, at its place.
void read_at_places() {
    std::FILE* file = opened("r");
    int wrong = 0;
    long end = 0;
#pragma omp parallel for ordered schedule(static, 7) reduction(+ : wrong)
    for (int i = 0; i < 100; ++i) {
#pragma omp ordered
        {
            int number = -1;
            const int wanted = i * 29 % lines;
            wrong += std::fseek(file, wanted * 8L, SEEK_SET) != 0 || !by_lines(file, number) || number != wanted;
            wrong += std::ftell(file) != (wanted + 1) * 8L;
        }
    }
#pragma omp parallel
    {
#pragma omp barrier
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            std::fseek(file, 0, SEEK_END);
            end = std::ftell(file);
            wrong += std::fgetc(file) != EOF || !std::feof(file);
            std::fclose(file); // for all
        }
    }
    std::printf("places: %d wrong, %ld bytes\n", wrong, end);

    const int descriptor = open(path, O_RDONLY);
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < 50; ++i) {
        char line[9] = {};
        struct stat status;
        wrong += pread(descriptor, line, 8, i * 8L) != 8 || std::atoi(line) != i;
        wrong += fstat(descriptor, &status) != 0 || status.st_size != end;
    }
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        char line[9] = {};
        wrong += lseek(descriptor, 40, SEEK_SET) != 40 || read(descriptor, line, 8) != 8 || std::atoi(line) != 5;
    }
    wrong += lseek(descriptor, 0, SEEK_CUR) != 48;
    close(descriptor);
    std::printf("descriptors: %d wrong\n", wrong);
}

// More of them than small numbers.
void open_many() {
    static int descriptors[200];
    int wrong = 0;
    for (int& each : descriptors) {
        each = open(path, O_RDONLY);
        lseek(each, 8 * (&each - descriptors), SEEK_SET);
    }
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < 200; ++i) {
        char line[9] = {};
        errno = 0;
        wrong += read(descriptors[i], line, 8) != 8 || std::atoi(line) != i || errno != 0;
    }
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 199; i >= 0; --i) wrong += close(descriptors[i]) != 0;
    std::printf("many descriptors: %d wrong\n", wrong);
}

// More than is read by one call.
void read_long() {
    constexpr std::size_t bytes = std::size_t{9} << 20;
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i * 7 / 5 % 26);
    std::FILE* file = opened("w+");
    std::fwrite(text.data(), 1, bytes, file);
    std::rewind(file);
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        std::string found(bytes + 10, ' ');
        wrong += std::fread(found.data(), 1, found.size(), file) != bytes || found.compare(0, bytes, text) != 0;
        const iovec pieces[2] = {{found.data(), bytes / 3}, {found.data() + bytes / 3, bytes}};
        std::fill(found.begin(), found.end(), ' ');
        wrong += preadv(fileno(file), pieces, 2, 5) != bytes - 5 || found.compare(0, bytes - 5, text, 5) != 0;
    }
    std::fclose(file);
    std::printf("long: %d wrong\n", wrong);
}

// What a thread writes before it closes a file is there.
void write_and_close() {
    int wrong = 0;
    for (int round = 0; round < 40; ++round) {
        std::FILE* file = opened("w");
#pragma omp parallel reduction(+ : wrong)
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            for (int i = 0; i < 100; ++i) std::fprintf(file, "%06d\n", i);
            wrong += std::fclose(file) != 0;
        }
        struct stat status;
        wrong += stat(path, &status) != 0 || status.st_size != 700;
    }
    std::printf("written and closed: %d wrong\n", wrong);
}

// One thread after the other writes and reads.
void write_and_read() {
    std::FILE* file = opened("w+");
    int wrong = 0;
#pragma omp parallel for ordered schedule(static, 1) reduction(+ : wrong)
    for (int i = 0; i < 20; ++i) {
#pragma omp ordered
        {
            int number = -1;
            std::fseek(file, 0, SEEK_END);
            std::fprintf(file, "%07d\n", i);
            std::fseek(file, i / 2 * 8L, SEEK_SET);
            wrong += !by_format(file, number) || number != i / 2;
        }
    }
    std::rewind(file);
    int count = 0;
    for (int number = -1; by_lines(file, number);) wrong += number != count++;
    std::fclose(file);
    std::printf("written and read: %d lines, %d wrong\n", count, wrong);
}

} // namespace

int main() {
    std::snprintf(path, sizeof path, "/tmp/kumiki-read-%ld", static_cast<long>(getpid()));
    std::FILE* file = opened("w");
    for (int i = 0; i < lines; ++i) std::fprintf(file, "%07d\n", i);
    std::fclose(file);
    read_streams();
    read_without_lock();
    read_at_places();
    open_many();
    write_and_read();
    write_and_close();
    read_long();
    unlink(path);
    return 0;
}
