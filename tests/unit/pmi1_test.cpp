#include <array>
#include <gtest/gtest.h>
#include <map>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "fabric/wireup/exchange.hpp"
#include "fabric/wireup/pmi1.hpp"

namespace kumiki::fabric {
namespace {

using namespace std::chrono_literals;

/// A process manager for one rank. It answers as hydra does, except for one kind of question, to which it gives the
/// test's answer, or none if that is empty.
class Manager {
public:
    Manager(std::string special, std::string answer) : special_(std::move(special)), answer_(std::move(answer)) {
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data());
        thread_ = std::thread([this] { serve(); });
    }
    explicit Manager() : Manager("no such question", "") {}
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;
    ~Manager() {
        shutdown(ends_[1], SHUT_RDWR);
        thread_.join();
        for (const int end : ends_) close(end);
    }
    int descriptor() const { return ends_[0]; }
    void say(const std::string& text) const {
        EXPECT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }

private:
    void serve() {
        std::string line;
        for (char character = 0; read(ends_[1], &character, 1) == 1;) {
            if (character != '\n') {
                line += character;
                continue;
            }
            const std::string answer = line.find(special_) == line.npos ? usual(line) : answer_;
            line.clear();
            if (answer == "close") return static_cast<void>(shutdown(ends_[1], SHUT_RDWR));
            say(answer);
        }
    }
    std::string usual(const std::string& question) {
        const auto word = [&](const std::string& name) {
            const auto begin = question.find(name + "=") + name.size() + 1;
            return question.substr(begin, question.find(' ', begin) - begin);
        };
        const std::string command = word("cmd");
        if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
        if (command == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=128\n";
        if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=space_1\n";
        if (command == "barrier_in") return "cmd=barrier_out\n";
        if (command == "put") {
            values_[word("key")] = word("value");
            return "cmd=put_result rc=0 msg=success\n";
        }
        const auto found = values_.find(word("key"));
        if (found == values_.end()) return "cmd=get_result rc=-1 msg=key_not_found value=unknown\n";
        return "cmd=get_result rc=0 msg=success value=" + found->second + "\n";
    }

    const std::string special_, answer_;
    std::map<std::string, std::string> values_;
    std::array<int, 2> ends_{};
    std::thread thread_;
};

/// The sentence with which joining fails under such a manager.
std::string failure(const Manager& manager, std::chrono::milliseconds patience = 5s) {
    auto space = open_pmi1(manager.descriptor(), 0, 1, patience);
    const auto all = space ? Exchange(std::move(*space)).all("hello") : tl::unexpected(space.error());
    if (all) return "none";
    EXPECT_EQ(all.error().status, KUMIKI_ERROR_ENVIRONMENT);
    return all.error().message;
}

TEST(Pmi1Test, RanksExchangeLongValues) {
    const Manager manager;
    std::string bytes;
    for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i);
    Exchange exchange(open_pmi1(manager.descriptor(), 0, 1, 5s).value());
    EXPECT_FALSE(exchange.is_spent());
    EXPECT_EQ(exchange.all(bytes).value(), std::vector{bytes});
    EXPECT_TRUE(Exchange(open_pmi1(manager.descriptor(), 0, 1, 5s).value()).is_spent());
}

TEST(Pmi1Test, WhatIsNotTheProtocolIsRefusedAndShown) {
    for (const auto& [question, answer] : std::vector<std::pair<std::string, std::string>>{
             {"cmd=init", "HTTP/1.1 400 Bad Request\n"},
             {"cmd=init", "\n"},
             {"cmd=init", "cmd=response_to_init rc=7\n"},
             {"get_maxes", "cmd=maxes\n"},
             {"get_maxes", "cmd=maxes vallen_max=\n"},
             {"get_maxes", "cmd=maxes vallen_max=63\n"},
             {"get_maxes", "cmd=maxes vallen_max=many\n"},
             {"get_my_kvsname", "cmd=my_kvsname name=x\n"},
             {"cmd=put", "cmd=put_result rc=-1 msg=duplicate_key\n"},
             {"barrier_in", "cmd=barrier\n"},
             {"cmd=get ", "cmd=get_result rc=0 value\n"},
         }) {
        const auto sentence = failure(Manager(question, answer));
        EXPECT_NE(sentence.find("answers \"" + answer.substr(0, answer.size() - 1) + "\""), std::string::npos)
            << sentence;
        EXPECT_NE(sentence.find("which is not PMI-1"), std::string::npos) << sentence;
    }
}

TEST(Pmi1Test, AManagerThatEndsIsNoticed) {
    for (const std::string question : {"cmd=init", "get_my_kvsname", "cmd=put", "barrier_in", "cmd=get "}) {
        const auto sentence = failure(Manager(question, "close"));
        EXPECT_NE(sentence.find("cannot reach the process manager"), std::string::npos) << sentence;
    }
}

TEST(Pmi1Test, ASilentManagerIsNotWaitedForForEver) {
    for (const std::string half : {"", "cmd=put_res"}) {
        const auto sentence = failure(Manager("cmd=put", half), 100ms);
        EXPECT_NE(sentence.find("has not answered for 0.1 s (KUMIKI_TIMEOUT)"), std::string::npos) << sentence;
    }
}

TEST(Pmi1Test, AFenceWaitsForSlowRanks) {
    const Manager manager("barrier_in", "");
    Exchange exchange(open_pmi1(manager.descriptor(), 0, 1, 200ms).value());
    const std::jthread slow([&] {
        std::this_thread::sleep_for(300ms);
        manager.say("cmd=barrier_out\n");
    });
    EXPECT_TRUE(exchange.tell("hello"));
}

TEST(Pmi1Test, ALineWithoutEndIsNotKept) {
    const auto sentence = failure(Manager("cmd=init", std::string(100000, 'x')));
    EXPECT_NE(sentence.find("a line without an end"), std::string::npos) << sentence;
}

TEST(Pmi1Test, ADescriptorThatIsNoneIsNamed) {
    const auto space = open_pmi1(7777, 0, 1, 1s);
    ASSERT_FALSE(space);
    EXPECT_NE(space.error().message.find("PMI_FD=7777: Bad file descriptor"), std::string::npos);
}

} // namespace
} // namespace kumiki::fabric
