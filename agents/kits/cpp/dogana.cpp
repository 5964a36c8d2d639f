#include "dogana.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/grpcpp.h>

#include "dogana/v1/referee.grpc.pb.h"

namespace dogana {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Stream = grpc::ClientReaderWriter<v1::AgentMessage, v1::RefereeMessage>;

constexpr int protocol = 1;                  // the version of the protocol that this file speaks
constexpr int max_message_bytes = 8 << 20;   // the largest message that is read
constexpr std::chrono::milliseconds keepalive = 30s, keepalive_timeout = 10s;
constexpr std::chrono::milliseconds first_wait = 1s;  // before a remote bot reconnects after a loss; then twice as long
constexpr std::chrono::milliseconds longest_wait = 60s;
constexpr auto patience = 10min;  // the time without a connection after which it gives up
constexpr auto end_wait = 1s;     // the time allowed for a choice to go on after the end of the match

constexpr const char* start_me =
    "this bot must be started by the referee, or given the referee's address:\n"
    "  dogana play GAME cmd:./bot random      starts it\n"
    "  DOGANA_ADDRESS=host:port DOGANA_TOKEN=... ./bot      joins a remote seat";

[[noreturn]] void give_up(const std::string& reason) {
    std::fprintf(stderr, "dogana bot: %s\n", reason.c_str());
    std::fflush(nullptr);
    std::_Exit(1);
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool is_remote(const std::string& address) { return address.rfind("unix:", 0) != 0; }

std::shared_ptr<grpc::ChannelCredentials> credentials() {
    const std::string authority = variable("DOGANA_CA");
    if (authority.empty()) return grpc::InsecureChannelCredentials();
    std::ifstream file(authority);
    std::stringstream certificate;
    if (!(certificate << file.rdbuf())) give_up("cannot read the certificate " + authority + ": " + std::strerror(errno));
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = certificate.str();
    return grpc::SslCredentials(options);
}

std::shared_ptr<grpc::Channel> channel(const std::string& address) {
    grpc::ChannelArguments arguments;
    if (address.rfind("unix:", 0) != 0) {  // a started bot needs no pings, and may be stopped while it has no question
        arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.count());
        arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive_timeout.count());
        arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit
    }
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);     // a new channel connects at once, without gRPC's own backoff
    arguments.SetMaxReceiveMessageSize(max_message_bytes);
    return grpc::CreateCustomChannel(address, credentials(), arguments);
}

// Reports a refused answer to the author of the bot.
void report(const v1::Rejected& rejected) {
    std::string reason = v1::Rejected::Reason_Name(rejected.reason()).substr(std::string("REASON_").size());
    std::transform(reason.begin(), reason.end(), reason.begin(), [](unsigned char letter) { return std::tolower(letter); });
    const std::string rule = rejected.rule().empty() ? "" : " (" + rejected.rule() + ")";
    std::fprintf(stderr, "dogana bot: decision %llu refused as %s: %s%s; strike %u\n",
                 static_cast<unsigned long long>(rejected.decision()), reason.c_str(), rejected.message().c_str(), rule.c_str(),
                 rejected.strikes());
}

// Reads a stream while the bot thinks, so that the bot can check its deadline and whether its decision was withdrawn.
class Reader {
public:
    explicit Reader(Stream& stream) : stream_(stream), thread_([this] { read(); }) {}
    ~Reader() { thread_.join(); }

    // Waits for the newest decision; returns nullptr at the end of the stream.
    std::shared_ptr<Decision> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return asked_ || ended_; });
        return std::exchange(asked_, nullptr);
    }

    bool welcomed() const { return welcomed_; }
    bool over() const { return over_; }

private:
    void read() {
        v1::RefereeMessage message;
        while (!over_ && stream_.Read(&message)) handle(message);
        drop();
        std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_one();
    }

    void handle(const v1::RefereeMessage& message) {
        if (message.has_welcome()) {
            match_ = message.welcome();
            welcomed_ = true;
        } else if (message.has_decide()) {
            const v1::Decide& decide = message.decide();
            ask(std::make_shared<Decision>(match_, decide, decide.clock().budget_ms()));
        } else if (message.has_rejected()) {
            const v1::Rejected& rejected = message.rejected();
            report(rejected);
            if (is_open(rejected.decision()) && rejected.reason() != v1::Rejected::REASON_STALE)
                ask(std::make_shared<Decision>(match_, open_->message, rejected.left_ms(), rejected));
        } else if (message.has_new_deadline()) {
            if (is_open(message.new_deadline().decision())) open_->set_time_left(message.new_deadline().clock().budget_ms());
        } else if (message.has_withdrawn()) {
            if (is_open(message.withdrawn().decision())) drop();
        } else if (message.has_game_over()) {
            over_ = true;
            std::thread([] {  // the bot may still be thinking
                std::this_thread::sleep_for(end_wait);
                std::fflush(nullptr);
                std::_Exit(0);
            }).detach();
        }
    }

    bool is_open(std::uint64_t number) const { return open_ && !open_->withdrawn() && open_->message.decision() == number; }

    void ask(std::shared_ptr<Decision> decision) {
        drop();
        std::lock_guard lock(mutex_);
        open_ = asked_ = std::move(decision);
        changed_.notify_one();
    }

    // Withdraws the open decision, whether the bot has taken it or not.
    void drop() {
        std::lock_guard lock(mutex_);
        if (open_) open_->withdraw();
        asked_ = nullptr;
    }

    Stream& stream_;
    v1::Welcome match_;
    std::shared_ptr<Decision> open_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<Decision> asked_;
    bool ended_ = false;
    std::atomic<bool> welcomed_{false}, over_{false};
    std::thread thread_;
};

struct Ending {
    bool welcomed;        // whether the referee has greeted the bot
    bool over;            // whether the match has ended
    grpc::Status status;  // of the stream
};

Ending play_stream(const std::string& address, const std::string& token, const std::function<Answer(const Decision&)>& choose) {
    const auto stub = v1::Referee::NewStub(channel(address));
    grpc::ClientContext context;
    const auto stream = stub->Play(&context);
    v1::AgentMessage message;
    message.mutable_join()->set_token(token);
    message.mutable_join()->set_protocol(protocol);
    stream->Write(message);  // if the stream has ended, its status gives the reason
    Reader reader(*stream);
    while (const auto decision = reader.take()) {
        const Answer answer = choose(*decision);
        *message.mutable_choose() = answer.message(decision->message);
        if (!decision->withdrawn()) stream->Write(message);
    }
    const grpc::Status status = stream->Finish();
    return {reader.welcomed(), reader.over(), status};
}

// Returns whether a stream ended because the connection was lost, and not because the referee ended it.
bool is_lost(const grpc::Status& status) {
    switch (status.error_code()) {
        case grpc::StatusCode::UNAVAILABLE:
        case grpc::StatusCode::CANCELLED:
        case grpc::StatusCode::UNKNOWN:
        case grpc::StatusCode::INTERNAL:
            return true;
        default:
            return false;
    }
}

// Returns the name of a status, such as FAILED_PRECONDITION.
std::string name(grpc::StatusCode code) {
    switch (code) {
        case grpc::StatusCode::UNAUTHENTICATED:
            return "UNAUTHENTICATED";
        case grpc::StatusCode::FAILED_PRECONDITION:
            return "FAILED_PRECONDITION";
        case grpc::StatusCode::INVALID_ARGUMENT:
            return "INVALID_ARGUMENT";
        case grpc::StatusCode::RESOURCE_EXHAUSTED:
            return "RESOURCE_EXHAUSTED";
        case grpc::StatusCode::ABORTED:
            return "ABORTED";
        case grpc::StatusCode::UNIMPLEMENTED:
            return "UNIMPLEMENTED";
        default:
            return "status " + std::to_string(code);
    }
}

// Explains the end of a stream.
std::string explain(const grpc::Status& status, const std::string& address) {
    const std::string& message = status.error_message();
    if (status.ok()) return "the referee ended the stream before the match was over";
    if (is_lost(status)) return "no referee answers at " + address + " (" + message + "); is it running, and the address right?";
    std::string hint;
    if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION) hint = "; make a new kit with a newer dogana";
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) hint = "; is it a referee that listens at " + address + "?";
    return "the referee refused (" + name(status.error_code()) + "): " + message + hint;
}

}  // namespace

Answer Answer::index(std::size_t index) {
    Answer answer;
    answer.index_ = index;
    return answer;
}

void Answer::add(const google::protobuf::Message& action) {
    // An ActionList of the game is its actions, each as field 1.
    google::protobuf::UnknownFieldSet fields;
    fields.AddLengthDelimited(1, action.SerializeAsString());
    std::string data;
    fields.SerializeToString(&data);
    list_->mutable_value()->append(data);
    list_->set_type_url("type.googleapis.com/" + action.GetDescriptor()->full_name() + "List");
}

v1::Choose Answer::message(const v1::Decide& decide) const {
    v1::Choose choose;
    choose.set_decision(decide.decision());
    if (list_) {
        const std::string& wanted = decide.actions().type_url();
        if (list_->type_url() != wanted) give_up("choose answered with a " + list_->type_url() + "; it must be a " + wanted);
        *choose.mutable_actions() = *list_;
    } else {
        if (index_ >= decide.action_count())
            give_up("choose answered index " + std::to_string(index_) + "; an index counts from 0 to " +
                    std::to_string(decide.action_count() - 1));
        choose.set_index(index_);
    }
    return choose;
}

Decision::Decision(const v1::Welcome& match, const v1::Decide& message, double left_ms, std::optional<v1::Rejected> rejection)
    : match(match), message(message), rejection(std::move(rejection)) {
    set_time_left(left_ms);
}

static std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

std::chrono::milliseconds Decision::time_left() const { return std::chrono::milliseconds(deadline_ms_ - now_ms()); }

void Decision::set_time_left(double left_ms) {
    deadline_ms_ = now_ms() + static_cast<std::int64_t>(std::clamp(left_ms, 0.0, 1e12));
}

void Decision::unpack(const google::protobuf::Any& from, google::protobuf::Message& to) {
    if (!from.UnpackTo(&to))
        give_up("the referee sent a message that is not of this game (" + from.type_url() +
                "); make a new kit with a newer dogana");
}

void play(const std::function<Answer(const Decision&)>& choose) {
    setenv("GRPC_VERBOSITY", "NONE", 0);  // errors are reported in one line
    const std::string address = variable("DOGANA_ADDRESS"), token = variable("DOGANA_TOKEN");
    if (address.empty() || token.empty()) give_up(start_me);
    std::mt19937 random{std::random_device{}()};
    std::chrono::milliseconds wait = first_wait;
    std::optional<Clock::time_point> lost;
    while (true) {
        const auto [welcomed, over, status] = play_stream(address, token, choose);
        if (over) break;
        if (welcomed) {
            wait = first_wait;
            lost = Clock::now();
        }
        if (!is_remote(address) || !is_lost(status) || !lost || Clock::now() - *lost > patience) give_up(explain(status, address));
        // A random pause, so that bots do not all reconnect at once.
        const std::chrono::milliseconds pause(std::uniform_int_distribution<std::int64_t>(wait.count() / 2, wait.count())(random));
        std::fprintf(stderr, "dogana bot: %s; trying again in %.1f s\n", explain(status, address).c_str(), pause.count() / 1000.0);
        std::this_thread::sleep_for(pause);
        wait = std::min(2 * wait, longest_wait);
    }
    std::fflush(nullptr);
    std::_Exit(0);
}

}  // namespace dogana
