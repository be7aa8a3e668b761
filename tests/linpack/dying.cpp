// Preloaded into kumiki-linpack: rank TEST_DIE_RANK kills itself in call number TEST_DIE_CALL of the function
// TEST_DIE_IN, so that a test can have a rank die in any phase of a run. TEST_DIE_PROGRAM names the program that dies,
// which may be the server that the rank starts.
#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#include "kumiki/kumiki.h"

namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Counts a call of `function`, and dies if it is the one.
void die_here(const char* function) {
    static const bool mine = !variable("TEST_DIE_IN").empty() && variable("TEST_DIE_RANK") == variable("KUMIKI_RANK") &&
                             variable("TEST_DIE_PROGRAM") == program_invocation_short_name;
    static const std::string place = variable("TEST_DIE_IN");
    static const long call = std::atol(variable("TEST_DIE_CALL").c_str());
    static std::atomic<long> calls{0};
    if (mine && place == function && ++calls == call) kill(getpid(), SIGKILL);
}

/// The function that this one stands before.
template <class Function>
Function* next(Function*, const char* name) {
    void* const found = dlsym(RTLD_NEXT, name);
    Function* function = nullptr;
    std::memcpy(&function, &found, sizeof function);
    return function;
}

} // namespace

#define FORWARD(name, ...)                                                                                             \
    die_here(#name);                                                                                                   \
    static const auto original = next(&::name, #name);                                                                 \
    return original(__VA_ARGS__)

extern "C" {

__attribute__((visibility("default"))) kumiki_status kumiki_team_run(kumiki_team* team, void (*function)(void*, int),
                                                                     void* context) {
    FORWARD(kumiki_team_run, team, function, context);
}

// The arguments of the CBLAS interface: enumerations and lengths are of the size of an int in every library that Kumiki
// uses.
__attribute__((visibility("default"))) size_t cblas_idamax(int count, const double* elements, int step) {
    FORWARD(cblas_idamax, count, elements, step);
}

__attribute__((visibility("default"))) void cblas_dtrsm(int order, int side, int part, int transposed, int diagonal,
                                                        int rows, int columns, double factor, const double* triangle,
                                                        int triangle_lead, double* result, int result_lead) {
    FORWARD(cblas_dtrsm, order, side, part, transposed, diagonal, rows, columns, factor, triangle, triangle_lead,
            result, result_lead);
}

__attribute__((visibility("default"))) void cblas_dgemm(int order, int transposed, int right_transposed, int rows,
                                                        int columns, int depth, double factor, const double* left,
                                                        int left_lead, const double* right, int right_lead, double kept,
                                                        double* result, int result_lead) {
    FORWARD(cblas_dgemm, order, transposed, right_transposed, rows, columns, depth, factor, left, left_lead, right,
            right_lead, kept, result, result_lead);
}

__attribute__((visibility("default"))) void cblas_dgemv(int order, int transposed, int rows, int columns, double factor,
                                                        const double* matrix, int lead, const double* vector, int step,
                                                        double kept, double* result, int result_step) {
    FORWARD(cblas_dgemv, order, transposed, rows, columns, factor, matrix, lead, vector, step, kept, result,
            result_step);
}
}
