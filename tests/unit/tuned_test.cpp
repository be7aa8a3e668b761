// The results of `kumiki tune`: the file, the key of the machine, and their use by the library.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "face/job.hpp"
#include "platform/hardware.hpp"
#include "settings/tuned.hpp"

namespace kumiki {
namespace {

namespace fs = std::filesystem;

/// A folder of this test's own.
class TunedTest : public testing::Test {
protected:
    TunedTest() : folder(fs::temp_directory_path() / ("kumiki-tuned-" + std::to_string(getpid()))) {}
    ~TunedTest() override { fs::remove_all(folder); }

    fs::path write(const fs::path& name, const std::string& text) const {
        fs::create_directories((folder / name).parent_path());
        std::ofstream(folder / name) << text;
        return folder / name;
    }
    const fs::path folder;
};

TEST_F(TunedTest, LinesAreFoundByMachineAndLink) {
    const auto lengths = read_tuned(write("tuned", "# comment\n\nbox,2,48k memory 65536\nbox,2,48k network:eth0 8192\n"
                                                   "other memory 223"));
    ASSERT_TRUE(lengths) << lengths.error().message;
    EXPECT_EQ(lengths->size(), 3u);
    EXPECT_EQ(tuned_length(*lengths, "box,2,48k", memory_link), 65536u);
    EXPECT_EQ(tuned_length(*lengths, "box,2,48k", network_link("eth0")), 8192u);
    EXPECT_EQ(tuned_length(*lengths, "box,2,48k", network_link("")), 0u);
    EXPECT_EQ(tuned_length(*lengths, "other", memory_link), 223u);
    EXPECT_EQ(tuned_length(*lengths, "none", memory_link), 0u);
}

TEST_F(TunedTest, NoFileIsTheNormalCase) {
    const auto lengths = read_tuned(folder / "tuned");
    ASSERT_TRUE(lengths);
    EXPECT_TRUE(lengths->empty());
}

TEST_F(TunedTest, ADamagedLineIsNamed) {
    for (const char* const damaged : {"box", "box memory", "box memory much", "box memory 12k", "box memory -1",
                                      "box memory 0", "box memory 8 9", "box memory 99999999999999999999"}) {
        const auto file = write("tuned", std::string("box memory 4048\n") + damaged + "\n");
        const auto lengths = read_tuned(file);
        ASSERT_FALSE(lengths) << damaged;
        EXPECT_NE(lengths.error().message.find(file.string() + ", line 2, "), std::string::npos);
        EXPECT_NE(lengths.error().message.find("kumiki tune"), std::string::npos);
    }
}

TEST_F(TunedTest, TheFileIsInTheUsersConfiguration) {
    const auto file = [](std::vector<const char*> environment) {
        environment.push_back(nullptr);
        return tuned_file(environment.data());
    };
    EXPECT_EQ(file({"HOME=/home/a"}), "/home/a/.config/kumiki/tuned");
    EXPECT_EQ(file({"HOME=/home/a", "XDG_CONFIG_HOME=/etc/a"}), "/etc/a/kumiki/tuned");
    EXPECT_EQ(file({"HOME=/home/a", "XDG_CONFIG_HOME=relative"}), "/home/a/.config/kumiki/tuned");
    EXPECT_EQ(file({"HOMES=/home/a"}), "");
}

TEST_F(TunedTest, AMachineIsKnownByItsProcessor) {
    write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some(R) CPU @ 2.10GHz\n");
    EXPECT_EQ(platform::hardware_key(folder), "some-r-cpu-2-10ghz");
    write("sys/devices/system/cpu/present", "0-63\n");
    write("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    write("sys/devices/system/cpu/cpu0/cache/index1/size", "2048K\n");
    EXPECT_EQ(platform::hardware_key(folder), "some-r-cpu-2-10ghz,64,48k,2048k");
    EXPECT_EQ(platform::hardware_key(folder / "nothing"), "unknown");
    EXPECT_EQ(platform::hardware_key(), platform::hardware_key());
}

class TunedJobTest : public TunedTest {
protected:
    TunedJobTest() { setenv("XDG_CONFIG_HOME", folder.c_str(), 1); }
    ~TunedJobTest() override {
        unsetenv("XDG_CONFIG_HOME");
        unsetenv("KUMIKI_FRAGMENT");
    }
    /// Of a message of 1 MiB.
    static std::uint64_t fragments() {
        kumiki_job* job = nullptr;
        EXPECT_EQ(kumiki_join(&job), KUMIKI_OK) << kumiki_error_message();
        const std::vector<std::byte> data(1 << 20);
        std::vector<std::byte> into(data.size());
        message::Request& asked = job->messages->receive(0, 0, into);
        message::Request* const sent = job->messages->send(0, 0, data).value();
        EXPECT_TRUE(job->messages->wait(asked) && job->messages->wait(*sent));
        const std::uint64_t moved = job->messages->fragments();
        EXPECT_EQ(kumiki_leave(job), KUMIKI_OK);
        return moved;
    }
};

TEST_F(TunedJobTest, TheLibraryCutsLongMessagesAsWasTuned) {
    const std::uint64_t own = fragments();
    write("kumiki/tuned", "some-other-machine memory 4096\n");
    EXPECT_EQ(fragments(), own);
    write("kumiki/tuned", platform::hardware_key() + " memory 4096\n");
    EXPECT_EQ(fragments(), 256u);
    setenv("KUMIKI_FRAGMENT", "0", 1);
    EXPECT_EQ(fragments(), own) << "the setting wins";
    setenv("KUMIKI_FRAGMENT", "65536", 1);
    EXPECT_EQ(fragments(), 16u);
    setenv("KUMIKI_FRAGMENT", "tuned", 1);
    EXPECT_EQ(fragments(), 256u);
}

TEST_F(TunedJobTest, ADamagedFileIsAnErrorUnlessItIsNotNeeded) {
    write("kumiki/tuned", "what is this\n");
    kumiki_job* job = nullptr;
    EXPECT_EQ(kumiki_join(&job), KUMIKI_ERROR_ENVIRONMENT);
    EXPECT_NE(std::string(kumiki_error_message()).find("kumiki/tuned, line 1"), std::string::npos);
    setenv("KUMIKI_FRAGMENT", "4048", 1);
    EXPECT_EQ(fragments(), 260u);
}

} // namespace
} // namespace kumiki
