#include "accelerator/try_device.hpp"

#include <cblas.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "accelerator/open.hpp"

namespace kumiki::accelerator {

namespace {

using Clock = std::chrono::steady_clock;

/// A product of `length` x `depth` and `depth` x `length` numbers on a device.
class Trial {
public:
    Trial(Device& device, std::size_t length, std::size_t depth)
        : length_(length),
          depth_(depth),
          a_(length * depth),
          b_(length * depth),
          result_(length * length),
          memory_{device.allocate(length * depth), device.allocate(length * depth), device.allocate(length * length)},
          stream_(device.stream()) {
        for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = digit(i), b_[i] = digit(i * 7 + 3);
        stream_->copy_in(a_.data(), depth, {length, depth}, {memory_[0].get(), 0, depth});
        stream_->copy_in(b_.data(), length, {depth, length}, {memory_[1].get(), 0, length});
    }
    /// Small whole numbers: the product is exact.
    bool is_right() {
        multiply();
        stream_->copy_out({memory_[2].get(), 0, length_}, {length_, length_}, result_.data(), length_);
        stream_->record()->wait();
        std::vector<double> expected(result_.size());
        const auto length = static_cast<int>(length_), depth = static_cast<int>(depth_);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, length, length, depth, 1, a_.data(), depth, b_.data(),
                    length, 0, expected.data(), length);
        return result_ == expected;
    }
    /// GFLOP/s of products that follow each other, operands and results on the device.
    double rate() {
        constexpr std::chrono::milliseconds enough{300};
        double products = 0;
        const auto start = Clock::now();
        do {
            for (int i = 0; i < 4; ++i) multiply();
            stream_->record()->wait();
            products += 4;
        } while (Clock::now() - start < enough);
        const auto length = static_cast<double>(length_), depth = static_cast<double>(depth_);
        return 2e-9 * products * length * length * depth / std::chrono::duration<double>(Clock::now() - start).count();
    }

private:
    static double digit(std::size_t i) { return static_cast<double>(i % 17) - 8; }
    void multiply() {
        stream_->multiply({length_,
                           length_,
                           depth_,
                           1,
                           {memory_[0].get(), 0, depth_},
                           {memory_[1].get(), 0, length_},
                           0,
                           {memory_[2].get(), 0, length_}});
    }

    std::size_t length_, depth_;
    std::vector<double> a_, b_, result_;
    std::unique_ptr<Memory> memory_[3];
    std::unique_ptr<Stream> stream_;
};

} // namespace

int try_device(const std::string& description, std::ostream& out) {
    const std::unique_ptr<Device> device = open_device(description);
    const Properties properties = device->properties();
    fmt::print(out, "{}: {}, {:.3g} GiB of memory, of which {:.3g} GiB at once\n", description, properties.name,
               static_cast<double>(properties.memory_bytes) / 0x1p30,
               static_cast<double>(properties.largest_bytes) / 0x1p30);
    for (const std::string& absence : device->absences()) fmt::print(out, "{}\n", absence);
    for (const std::size_t length : {512u, 1024u, 2048u})
        for (const std::size_t depth : {128u, 256u, 512u}) {
            Trial trial(*device, length, depth);
            if (!trial.is_right()) {
                fmt::print(out, "the product of {0} x {1} and {1} x {0} is wrong\n", length, depth);
                return 1;
            }
            fmt::print(out, "{0:5} x {1:4} and {1:4} x {0:5}: {2:.4g} GFLOP/s\n", length, depth, trial.rate());
            out.flush();
        }
    if (const std::string remark = device->remark(); !remark.empty()) fmt::print(out, "{}\n", remark);
    return 0;
}

} // namespace kumiki::accelerator
