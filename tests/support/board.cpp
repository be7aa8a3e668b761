#include "support/board.hpp"

#include <fmt/format.h>

namespace kumiki::tests {

class Board::Space : public fabric::KeyValueSpace {
public:
    Space(Board& board, int rank) : board_(board), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return board_.ranks_; }
    std::size_t longest_value() const override { return board_.longest_; }
    bool has_written(std::string_view key) override { return get(rank_, key).has_value(); }

    Result<> put(std::string_view key, std::string_view value) override {
        const std::lock_guard lock(board_.mutex_);
        if (value.size() > board_.longest_) return fail(KUMIKI_ERROR_ARGUMENT, "a value is too long");
        std::string written = board_.spoil ? board_.spoil(std::string(key), std::string(value)) : std::string(value);
        if (!board_.values_.try_emplace(std::string(key), std::move(written)).second)
            return fail(KUMIKI_ERROR_ARGUMENT, fmt::format("the key {} is written twice", key));
        return {};
    }
    Result<> fence() override {
        board_.all_.arrive_and_wait();
        return {};
    }
    Result<std::string> get(int, std::string_view key) override {
        const std::lock_guard lock(board_.mutex_);
        const auto found = board_.values_.find(key);
        if (found == board_.values_.end()) return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("there is no {}", key));
        return found->second;
    }

private:
    Board& board_;
    int rank_;
};

std::shared_ptr<fabric::KeyValueSpace> Board::space(int rank) { return std::make_shared<Space>(*this, rank); }

} // namespace kumiki::tests
