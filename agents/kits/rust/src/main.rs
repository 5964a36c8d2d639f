//! A bot that plays every game. Change `choose`, or the points that it compares.

mod dogana;
mod messages {
    #![allow(clippy::all, dead_code, reason = "generated")]
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

use dogana::{Answer, Decision};
use messages::dogana::games::cargo_noir::v1 as cargo_noir;
use messages::dogana::games::valparaiso::v1 as valparaiso;
use messages::dogana::games::venezia::v1 as venezia;
use messages::dogana::games::yunnan::v1 as yunnan;

fn main() {
    dogana::play(choose)
}

/// Chooses the action with the most points. Chance decides between equals, and in games without points.
fn choose(decision: &Decision) -> Answer {
    let seat = decision.welcome.seat as usize;
    match decision.welcome.game.as_str() {
        _ if decision.rejection.is_some() => random(decision),
        "cargo_noir" => {
            let (seen, legal): (_, cargo_noir::ActionList) = decision.read();
            best(&legal.actions, |action| cargo_noir_points(&seen, seat, action.kind.as_ref()))
        }
        "valparaiso" => {
            let (seen, legal): (_, valparaiso::ActionList) = decision.read();
            best(&legal.actions, |action| valparaiso_points(&seen, seat, action.kind.as_ref()))
        }
        "venezia" => {
            let (seen, legal): (_, venezia::ActionList) = decision.read();
            best(&legal.actions, |action| venezia_points(&seen, seat, action.kind.as_ref()))
        }
        "yunnan" => {
            let (_, legal): (yunnan::Observation, yunnan::ActionList) = decision.read();
            best(&legal.actions, |action| yunnan_points(action.kind.as_ref()))
        }
        _ => random(decision),
    }
}

/// Answers with any action: in a game that this bot does not know, and after an answer that was refused.
fn random(decision: &Decision) -> Answer {
    Answer::Index(fastrand::usize(..decision.message.action_count as usize))
}

/// Answers with the action that has the most points.
fn best<Action>(actions: &[Action], points: impl Fn(&Action) -> f64) -> Answer {
    let points: Vec<f64> = actions.iter().map(|action| points(action) + fastrand::f64()).collect();
    let chosen = (0..actions.len()).max_by(|one, other| points[*one].total_cmp(&points[*other]));
    Answer::Index(chosen.unwrap_or(0))
}

// The points for an action, by its kind and by the observation; more is better. The rules of each game are in its RULES.md;
// proto/dogana/games/ describes each field of an action or an observation.

/// Collects goods, hands in large sets of one kind, buys the dearest cards, and sends ships where many goods are.
fn cargo_noir_points(seen: &cargo_noir::Observation, seat: usize, kind: Option<&cargo_noir::action::Kind>) -> f64 {
    use cargo_noir::action::Kind;
    let (me, last) = (&seen.seats[seat], seen.turn == seen.last_turn);
    let owned = |kind: i32| me.goods[kind as usize - 1] as f64;
    let Some(kind) = kind else { return 0.0 };
    match kind {
        Kind::Collect(_) => 100.0,
        Kind::Casino(_) => 90.0,
        Kind::BmSwap(swap) => 10.0 * (owned(swap.take) - owned(swap.give)), // take what there is most of, give what there is least of
        Kind::BmDraw(_) => 15.0,
        Kind::Raise(_) if me.safe >= 4 && !last => 50.0,
        Kind::Raise(_) => 20.0,
        Kind::Withdraw(_) => 30.0,
        Kind::Stake(stake) => {
            // one coin more than needed
            let least = seen.pending_stake.as_ref().map_or(0, |pending| pending.min);
            -(f64::from(stake.coins) - f64::from(least) - 1.0).abs()
        }
        Kind::SellSame(sold) if sold.n + sold.wilds >= 4 || last => 100.0 + f64::from(sold.n + sold.wilds),
        Kind::DiffStart(_) | Kind::DiffAdd(_) | Kind::DiffClose(_) => -10.0 + 70.0 * one_if(last),
        Kind::Buy(buy) => 80.0 + f64::from(buy.card),
        Kind::EndSmuggling(_) => 10.0,
        Kind::Discard(discard) => -owned(discard.kind),
        Kind::Send(send) => match seen.ports.iter().find(|port| port.port == send.dest - 2) {
            Some(port) => {
                let points = 3.0 * sum(&port.goods) - 2.0 * sum(&port.stacks);
                if me.safe <= 2 { points - 20.0 } else { points + 5.0 }
            }
            None if send.dest() == cargo_noir::Destination::Casino && me.safe < 5 => 15.0,
            None => 2.0,
        },
        _ => 0.0,
    }
}

/// Loads three goods of a kind, sails, and trades them overseas for an achievement; builds when there is money.
fn valparaiso_points(seen: &valparaiso::Observation, seat: usize, kind: Option<&valparaiso::action::Kind>) -> f64 {
    use valparaiso::action::Kind;
    use valparaiso::{Card, Mode, Sector};
    let me = &seen.seats[seat];
    let (is_loaded, is_home) = (me.hold.iter().any(|count| *count >= 3), me.ship() == Sector::H);
    let has_three = me.hold.iter().zip(&me.warehouse).any(|(loaded, stored)| loaded + stored >= 3);
    // Cards whose main action helps now; the others are used for a good or for money.
    let useful = |card: Card, other: f64| match card {
        Card::K8 => 100.0,
        Card::K5 => 90.0,
        Card::K1 => 80.0 * one_if(has_three && !is_loaded),
        Card::K7 => 70.0 * one_if(is_loaded || !is_home),
        _ => other,
    };
    let Some(kind) = kind else { return 0.0 };
    match kind {
        Kind::Goods(goods) => 10.0 * (one_if(goods.first == goods.second) + one_if(goods.second == goods.third)),
        Kind::Place(place) => 50.0 + useful(place.card(), 20.0) / 10.0,
        Kind::Commit(_) => 20.0,
        Kind::Use(used) => {
            let card = me.plan().nth(used.slot as usize - 1).unwrap_or_default();
            let points = match used.mode() {
                Mode::Main => useful(card, 60.0 * one_if(card as i32 > Card::K8 as i32)), // achievement cards
                _ => 30.0,
            };
            points - f64::from(used.slot)
        }
        Kind::Transfer(hold) => {
            let load = [hold.silver, hold.copper, hold.wheat];
            sum(&load) + 10.0 * load.iter().filter(|count| **count >= 3).count() as f64
        }
        Kind::Sail(sail) if sail.sector() == Sector::H => 5.0,
        Kind::Sail(sail) => {
            let good = (sail.sector - Sector::Ow as i32) as usize; // west wants silver, north copper, east wheat
            10.0 * one_if(me.hold[good] >= 3)
        }
        Kind::Build(_) | Kind::BuildForGood(_) => 40.0,
        Kind::Give(_) | Kind::GiveTwo(_) | Kind::Pay(_) | Kind::Scrap(_) => 30.0,
        Kind::Trade(_) | Kind::Take(_) | Kind::Buy(_) | Kind::Hire(_) => 30.0,
        Kind::Sell(_) => -10.0,
        _ => 0.0,
    }
}

/// Lays pigeons in three districts, the rivals' homes first; a few breed beside the tourists on the Piazza.
fn venezia_points(seen: &venezia::Observation, seat: usize, kind: Option<&venezia::action::Kind>) -> f64 {
    use venezia::action::Kind;
    use venezia::{ActionCard, FirstCard};
    let lead = |place: venezia::Place| lead(seen, seat, place);
    let Some(kind) = kind else { return 0.0 };
    match kind {
        Kind::First(first) => 10.0 * one_if(first.card() == FirstCard::Piazza),
        Kind::Card(card) => 5.0 * one_if(card.card() != ActionCard::None),
        Kind::District(district) => {
            let is_home = |rival: usize| rival != seat && seen.seats[rival].home == Some(district.place);
            20.0 - lead(district.place()).abs() + 5.0 * one_if((0..seen.seats.len()).any(is_home))
        }
        Kind::Count(count) => {
            // an equal share for each card that is still to come
            let cards = seen.plan.as_ref().map_or(1, |plan| 1 + plan.chosen.len() - plan.counts.len());
            let share = f64::from(seen.seats[seat].reserve) / cards.max(1) as f64;
            -(f64::from(count.pigeons) - share).abs()
        }
        Kind::Feint(feint) => f64::from(feint.pigeons),
        Kind::Reinforce(reinforce) => f64::from(reinforce.pigeons),
        Kind::Michele(michele) => f64::from(michele.pigeons),
        Kind::FromReserve(replacing) => f64::from(replacing.pigeons),
        Kind::PlacePigeon(_) => 10.0,
        Kind::Walk(walk) => 10.0 * (bears(seen, walk.end) - bears(seen, walk.start)),
        Kind::Jump(jump) => 10.0 * (bears(seen, jump.end) - bears(seen, jump.start)),
        Kind::Done(_) | Kind::Stop(_) => 1.0,
        Kind::Fehde(_) | Kind::Recover(_) => 5.0,
        Kind::Takeover(takeover) => -lead(takeover.district()),
        Kind::Purge(purge) if purge.seat as usize == seat => -10.0,
        Kind::Purge(purge) => -lead(purge.district()),
        Kind::Poison(poison) => {
            let is_mine = |pigeon: &venezia::PigeonView| pigeon.square == poison.square && pigeon.seat as usize == seat;
            5.0 - 10.0 * one_if(seen.piazza.iter().any(is_mine))
        }
        Kind::Raptor(raptor) => -lead(raptor.place()),
        _ => 0.0,
    }
}

/// Returns a seat's lead in a place of Venezia, in pigeons; negative if a rival leads.
fn lead(seen: &venezia::Observation, seat: usize, place: venezia::Place) -> f64 {
    let pigeons = &seen.places[place as usize - 1].pigeons;
    let most = (0..pigeons.len()).filter(|other| *other != seat).map(|other| pigeons[other]).max();
    f64::from(pigeons[seat]) - f64::from(most.unwrap_or(0))
}

/// Returns the worth of a square of the Piazza for breeding: 5 on a tourist, 2 beside one, and less with the distance.
fn bears(seen: &venezia::Observation, square: i32) -> f64 {
    let near = |tourist: &i32| {
        let (row, column) = ((square - 1) / 10 - (tourist - 1) / 10, (square - 1) % 10 - (tourist - 1) % 10);
        match row.abs().max(column.abs()) {
            0 => 5.0,
            1 => 2.0,
            steps => 1.0 / f64::from(steps),
        }
    };
    seen.tourists.iter().map(near).fold(0.0, f64::max)
}

/// Moves Merchants far out, where they earn most, bids low for progress, and turns all income into points.
fn yunnan_points(kind: Option<&yunnan::action::Kind>) -> f64 {
    use yunnan::action::Kind;
    let Some(kind) = kind else { return 0.0 };
    match kind {
        Kind::Convert(convert) => f64::from(convert.points),
        Kind::Move(journey) => 10.0 * f64::from(journey.end - journey.start),
        Kind::Bid(bid) => 10.0 - f64::from(bid.value) / 3.0,
        Kind::Take(_) => 10.0,
        Kind::BuildPost(post) => 50.0 + f64::from(post.province),
        Kind::BuildTeahouse(_) | Kind::BuildBridge(_) => 60.0,
        Kind::Displace(_) | Kind::Done(_) => 5.0,
        Kind::Market(_) => 4.0,
        Kind::Pass(_) => 1.0,
        _ => 0.0,
    }
}

fn sum(numbers: &[u32]) -> f64 {
    f64::from(numbers.iter().sum::<u32>())
}

fn one_if(condition: bool) -> f64 {
    if condition { 1.0 } else { 0.0 }
}
