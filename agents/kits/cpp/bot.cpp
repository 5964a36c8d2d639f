// A bot that plays every game. Change `choose`, or the points that it compares.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "dogana.hpp"
#include "dogana/games/cargo_noir/v1/cargo_noir.pb.h"
#include "dogana/games/valparaiso/v1/valparaiso.pb.h"
#include "dogana/games/venezia/v1/venezia.pb.h"
#include "dogana/games/yunnan/v1/yunnan.pb.h"

namespace cargo = dogana::games::cargo_noir::v1;
namespace valparaiso = dogana::games::valparaiso::v1;
namespace venezia = dogana::games::venezia::v1;
namespace yunnan = dogana::games::yunnan::v1;

using dogana::Answer;
using dogana::Decision;

// Returns a random number from 0 to 1.
double chance() {
    static std::mt19937 random{std::random_device{}()};
    return std::uniform_real_distribution<double>()(random);
}

// Adds up numbers, such as goods by kind.
template <class Numbers>
double sum(const Numbers& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

// The points for an action, by its kind and by the observation; more is better. The rules of each game are in its RULES.md;
// proto/dogana/games/ describes each field of an action or an observation.

// Collects goods, hands in large sets of one kind, buys the dearest card, and sends ships where many goods lie.
double points(const cargo::Observation& seen, int seat, const cargo::Action& action) {
    const cargo::SeatView& me = seen.seats(seat);
    const bool is_last = seen.turn() == seen.last_turn();
    const auto owned = [&](cargo::Kind kind) { return double(me.goods(kind - 1)); };
    switch (action.kind_case()) {
        case cargo::Action::kCollect:
            return 100;
        case cargo::Action::kCasino:
            return 90;
        case cargo::Action::kBmDraw:
            return 15;
        case cargo::Action::kBmSwap:  // take what there is most of, give what there is least of
            return 10 * (owned(action.bm_swap().take()) - owned(action.bm_swap().give()));
        case cargo::Action::kRaise:
            return me.safe() >= 4 && !is_last ? 50 : 20;
        case cargo::Action::kWithdraw:
            return 30;
        case cargo::Action::kStake:  // one coin more than needed
            return -std::abs(double(action.stake().coins()) - seen.pending_stake().min() - 1);
        case cargo::Action::kSellSame: {
            const double size = action.sell_same().n() + action.sell_same().wilds();
            return size >= 4 || is_last ? 100 + size : 0;
        }
        case cargo::Action::kDiffStart:
        case cargo::Action::kDiffAdd:
        case cargo::Action::kDiffClose:
            return is_last ? 60 : -10;
        case cargo::Action::kBuy:
            return 80 + action.buy().card();
        case cargo::Action::kEndSmuggling:
            return 10;
        case cargo::Action::kDiscard:
            return -owned(action.discard().kind());
        case cargo::Action::kSend:
            for (const cargo::PortView& port : seen.ports())
                if (port.port() == action.send().dest() - 2)  // destinations are the Casino, the Black Market and then the ports
                    return 3 * sum(port.goods()) - 2 * sum(port.stacks()) + (me.safe() > 2 ? 5 : -20);
            return action.send().dest() == cargo::DESTINATION_CASINO && me.safe() < 5 ? 15 : 2;
        default:
            return 0;
    }
}

// Loads three goods of a kind, sails, and trades them overseas for an achievement; builds when there is money.
double points(const valparaiso::Observation& seen, int seat, const valparaiso::Action& action) {
    const valparaiso::SeatView& me = seen.seats(seat);
    const bool is_loaded = *std::max_element(me.hold().begin(), me.hold().end()) >= 3, is_home = me.ship() == valparaiso::SECTOR_H;
    double most = 0;  // goods of a kind
    for (int good = 0; good < me.hold_size(); ++good) most = std::max(most, double(me.warehouse(good)) + me.hold(good));
    const auto useful = [&](int card, double other) {  // cards whose main action helps now; the others bring a good or money
        switch (card) {
            case valparaiso::CARD_K8:
                return 100.0;
            case valparaiso::CARD_K5:
                return 90.0;
            case valparaiso::CARD_K1:
                return most >= 3 && !is_loaded ? 80.0 : 0.0;
            case valparaiso::CARD_K7:
                return is_loaded || !is_home ? 70.0 : 0.0;
            default:
                return other;
        }
    };
    switch (action.kind_case()) {
        case valparaiso::Action::kGoods:
            return 10 * ((action.goods().first() == action.goods().second()) + (action.goods().second() == action.goods().third()));
        case valparaiso::Action::kPlace:
            return 50 + useful(action.place().card(), 20) / 10;
        case valparaiso::Action::kCommit:
            return 20;
        case valparaiso::Action::kUse: {
            const int slot = action.use().slot(), card = me.plan(slot - 1);
            return (action.use().mode() == valparaiso::MODE_MAIN ? useful(card, card > valparaiso::CARD_K8 ? 60 : 0) : 30) - slot;
        }
        case valparaiso::Action::kTransfer: {
            const std::vector<double> load{double(action.transfer().silver()), double(action.transfer().copper()), double(action.transfer().wheat())};
            return sum(load) + 10 * std::count_if(load.begin(), load.end(), [](double count) { return count >= 3; });
        }
        case valparaiso::Action::kSail:
            if (action.sail().sector() == valparaiso::SECTOR_H) return 5;
            return me.hold(action.sail().sector() - valparaiso::SECTOR_OW) >= 3 ? 10 : 0;  // west wants silver, north copper, east wheat
        case valparaiso::Action::kBuild:
        case valparaiso::Action::kBuildForGood:
            return 40;
        case valparaiso::Action::kGive:
        case valparaiso::Action::kGiveTwo:
        case valparaiso::Action::kPay:
        case valparaiso::Action::kScrap:
        case valparaiso::Action::kTrade:
        case valparaiso::Action::kTake:
        case valparaiso::Action::kBuy:
        case valparaiso::Action::kHire:
            return 30;
        case valparaiso::Action::kSell:
            return -10;
        default:
            return 0;
    }
}

// Lays pigeons in three districts, the rivals' homes first; a few breed beside the tourists on the Piazza.
double points(const venezia::Observation& seen, int seat, const venezia::Action& action) {
    const auto lead = [&](venezia::Place place) {  // this seat's lead in a place, in pigeons; negative if a rival leads
        const auto& pigeons = seen.places(place - 1).pigeons();
        double most = 0;
        for (int other = 0; other < pigeons.size(); ++other)
            if (other != seat) most = std::max(most, double(pigeons[other]));
        return pigeons[seat] - most;
    };
    const auto is_home_of_rival = [&](venezia::Place place) {
        for (int other = 0; other < seen.seats_size(); ++other)
            if (other != seat && seen.seats(other).home() == place) return true;
        return false;
    };
    const auto bears = [&](int square) {  // a square's worth for breeding: 5 on a tourist, 2 beside one, and less farther away
        double most = 0;
        for (const int tourist : seen.tourists()) {
            const int steps = std::max(std::abs((square - 1) / 10 - (tourist - 1) / 10), std::abs((square - 1) % 10 - (tourist - 1) % 10));
            most = std::max(most, steps == 0 ? 5.0 : steps == 1 ? 2.0 : 1.0 / steps);
        }
        return most;
    };
    switch (action.kind_case()) {
        case venezia::Action::kFirst:
            return action.first().card() == venezia::FIRST_CARD_PIAZZA ? 10 : 0;
        case venezia::Action::kCard:
            return action.card().card() == venezia::ACTION_CARD_NONE ? 0 : 5;
        case venezia::Action::kDistrict:
            return 20 - std::abs(lead(action.district().place())) + (is_home_of_rival(action.district().place()) ? 5 : 0);
        case venezia::Action::kCount: {  // an equal share for each card that is still to come
            const int cards = 1 + seen.plan().chosen_size() - seen.plan().counts_size();
            return -std::abs(action.count().pigeons() - double(seen.seats(seat).reserve()) / std::max(cards, 1));
        }
        case venezia::Action::kFeint:
            return action.feint().pigeons();
        case venezia::Action::kReinforce:
            return action.reinforce().pigeons();
        case venezia::Action::kMichele:
            return action.michele().pigeons();
        case venezia::Action::kFromReserve:
            return action.from_reserve().pigeons();
        case venezia::Action::kPlacePigeon:
            return 10;
        case venezia::Action::kWalk:
            return 10 * (bears(action.walk().end()) - bears(action.walk().start()));
        case venezia::Action::kJump:
            return 10 * (bears(action.jump().end()) - bears(action.jump().start()));
        case venezia::Action::kDone:
        case venezia::Action::kStop:
            return 1;
        case venezia::Action::kFehde:
        case venezia::Action::kRecover:
            return 5;
        case venezia::Action::kTakeover:
            return -lead(action.takeover().district());
        case venezia::Action::kPurge:
            return int(action.purge().seat()) == seat ? -10 : -lead(action.purge().district());
        case venezia::Action::kPoison:
            for (const venezia::PigeonView& pigeon : seen.piazza())
                if (pigeon.square() == action.poison().square()) return int(pigeon.seat()) == seat ? -5 : 5;
            return 0;
        case venezia::Action::kRaptor:
            return -lead(action.raptor().place());
        default:
            return 0;
    }
}

// Bids low for progress, moves Merchants far out, where they earn most, and turns all income into points.
double points(const yunnan::Observation& seen, int seat, const yunnan::Action& action) {
    switch (action.kind_case()) {
        case yunnan::Action::kBid:
            return 10 - action.bid().value() / 3.0;
        case yunnan::Action::kTake:
            return 10;
        case yunnan::Action::kBuildPost:
            return 50 + action.build_post().province();
        case yunnan::Action::kBuildTeahouse:
        case yunnan::Action::kBuildBridge:
            return 60;
        case yunnan::Action::kMove:
            return 10 * (action.move().end() - action.move().start());
        case yunnan::Action::kDisplace:
        case yunnan::Action::kDone:
            return 5;
        case yunnan::Action::kMarket:
            return 4;
        case yunnan::Action::kPass:
            return 1;
        case yunnan::Action::kConvert:
            return action.convert().points();
        default:
            return 0;
    }
}

// Answers with the action that has the most points. Chance decides between equals.
template <class Observation, class ActionList>
Answer best(const Decision& decision) {
    const auto [seen, legal] = decision.read<Observation, ActionList>();
    std::size_t chosen = 0;
    double most = -1e9;
    for (int index = 0; index < legal.actions_size(); ++index) {
        const double found = points(seen, decision.match.seat(), legal.actions(index)) + chance();
        if (found > most) {
            chosen = index;
            most = found;
        }
    }
    return Answer::index(chosen);
}

// Chooses the action with the most points; any action in a game without points, and after an answer that was refused.
Answer choose(const Decision& decision) {
    const std::string& game = decision.match.game();
    if (!decision.rejection) {
        if (game == "cargo_noir") return best<cargo::Observation, cargo::ActionList>(decision);
        if (game == "valparaiso") return best<valparaiso::Observation, valparaiso::ActionList>(decision);
        if (game == "venezia") return best<venezia::Observation, venezia::ActionList>(decision);
        if (game == "yunnan") return best<yunnan::Observation, yunnan::ActionList>(decision);
    }
    return Answer::index(chance() * decision.message.action_count());
}

int main() { dogana::play(choose); }
