// File streams of C++ that one thread has opened and others write to, also threads of other processes.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <omp.h>
#include <string>
#include <unistd.h>
#include <vector>

static std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

static void show(const char* what, const std::vector<std::string>& lines) {
    std::cout << what << ": " << lines.size();
    if (!lines.empty()) std::cout << ", from " << lines.front() << " to " << lines.back();
    std::cout << std::endl;
}

int main() {
    const std::string path = "/tmp/kumiki-file-streams-" + std::to_string(getpid());

    // Some lines stay in the stream's buffer, others are written at once; and one is longer than the buffer.
    std::ofstream file(path);
    file << "begin\n";
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 40; ++i) {
#pragma omp ordered
        {
            file << "line " << i << (i % 3 == 0 ? '\n' : ' ');
            if (i % 3 != 0) file << std::string(i == 20 ? 20000 : 3, 'x') << std::endl;
        }
    }
    file << "end\n";
    file.close();
    std::vector<std::string> lines = lines_of(path);
    bool in_order = lines.size() == 42;
    for (std::size_t i = 0; in_order && i < 40; ++i) in_order = lines[i + 1].rfind("line " + std::to_string(i), 0) == 0;
    show(in_order ? "in order" : "not in order", lines);

    // One for each thread.
    const int threads = omp_get_max_threads();
    int complete = 0;
#pragma omp parallel reduction(+ : complete)
    {
        const std::string name = path + "." + std::to_string(omp_get_thread_num());
        {
            std::ofstream own(name);
            for (int i = 0; i < 3000; ++i) own << "line " << i << '\n';
        }
        complete += lines_of(name).size() == 3000;
        std::remove(name.c_str());
    }
    show(complete == threads ? "each its own" : "each its own, with failures", {});

    // One that the last thread opens and closes.
    std::ofstream* shared = nullptr;
#pragma omp parallel shared(shared)
    {
        const bool is_owner = omp_get_thread_num() == omp_get_num_threads() - 1;
        if (is_owner) shared = new std::ofstream(path);
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 30; ++i) {
#pragma omp ordered
            *shared << "line " << i << '\n';
        }
        if (is_owner) delete shared;
    }
    show("of the last thread", lines_of(path));
    std::remove(path.c_str());
}
