// Laplace's equation by Jacobi, the COMPaS paper's first program: sequential, OpenMP, or on Kumiki: ranks x threads, or
// ranks that send messages.
#include <CLI/CLI.hpp>

#include "kernels/laplace/hybrid.hpp"
#include "kernels/laplace/message.hpp"
#include "kernels/laplace/openmp.hpp"
#include "kernels/laplace/options.hpp"
#include "kernels/laplace/ranks_form.hpp"
#include "kernels/laplace/sequential.hpp"

using namespace kumiki::kernels::laplace;

int main(int argc, char** argv) {
    Options options;
    CLI::App program("Laplace's equation by Jacobi's method, 5-point stencil, double precision", "laplace");
    options.add_common(program);
    options.add_forms(program);
    kumiki::measure::parse_or_exit(program, argc, argv);

    return kumiki::measure::guarded("laplace", [&] {
        if (options.form == "openmp") {
            OpenMp form(options.problem, options.threads);
            return measure_form(form, options);
        }
        if (options.form == "hybrid") {
            kumiki::Job job;
            Hybrid form(job, options);
            return measure_form(form, options);
        }
        if (options.form == "message") {
            kumiki::Job job;
            RanksForm form(MessageWire(job), options);
            return measure_form(form, options);
        }
        Sequential form(options.problem);
        return measure_form(form, options);
    });
}
