// Connects a bot to the referee: joins, asks the bot for each decision, and sends its answers.
//
// A complete bot, for every game:
//
//   int main() { dogana::play([](const dogana::Decision&) { return dogana::Answer::index(0); }); }
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dogana/v1/referee.pb.h"

namespace dogana {

// The answer of a bot.
class Answer {
public:
    // Answers with the index of an action in the list of legal actions, counted from 0.
    static Answer index(std::size_t index);

    // Answers with an action, or with several that are played in a row. The first must be legal; each further one is played
    // while this seat is still to act and the action is legal by then.
    template <class Action>
    static Answer turn(const std::vector<Action>& actions) {
        Answer answer;
        answer.list_.emplace();
        for (const Action& action : actions) answer.add(action);
        return answer;
    }

    // Makes the message of this answer.
    v1::Choose message(const v1::Decide& decide) const;

private:
    void add(const google::protobuf::Message& action);

    std::size_t index_ = 0;
    std::optional<google::protobuf::Any> list_;
};

// One decision of the bot.
class Decision {
public:
    Decision(const v1::Welcome& match, const v1::Decide& message, double left_ms, std::optional<v1::Rejected> rejection = {});

    // The facts that stay the same: the game, the seat, the options, the numbers of the board.
    const v1::Welcome& match;
    // The question: the number of actions, the actions played since the last one, the clock.
    const v1::Decide message;
    // The refusal of the last answer to this same question, if there was one.
    const std::optional<v1::Rejected> rejection;

    // Reads the part of the state that the seat may know, and the legal actions: the game's Observation and ActionList.
    template <class Observation, class ActionList>
    std::pair<Observation, ActionList> read() const {
        std::pair<Observation, ActionList> parts;
        unpack(message.observation(), parts.first);
        unpack(message.actions(), parts.second);
        return parts;
    }

    // Returns the time left for this decision, negative when time is up. It also changes when a sand timer starts.
    std::chrono::milliseconds time_left() const;

    // Returns whether an answer is no longer wanted: time was up, others were faster, or the match has ended.
    bool withdrawn() const { return withdrawn_; }

    void withdraw() { withdrawn_ = true; }
    void set_time_left(double left_ms);

private:
    static void unpack(const google::protobuf::Any& from, google::protobuf::Message& to);

    std::atomic<std::int64_t> deadline_ms_{0};
    std::atomic<bool> withdrawn_{false};
};

// Plays one match to its end, then ends the process: with status 0 after the end of the match, else with status 1 and a line on
// standard error that says why. Decisions are made in the calling thread, while another thread reads the referee's messages.
[[noreturn]] void play(const std::function<Answer(const Decision&)>& choose);

}  // namespace dogana
