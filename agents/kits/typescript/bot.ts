// A bot that plays every game. Change the points that it gives to actions, or what `choose` does with them.

import * as cn from "./gen/dogana/games/cargo_noir/v1/cargo_noir_pb";
import * as vp from "./gen/dogana/games/valparaiso/v1/valparaiso_pb";
import * as vz from "./gen/dogana/games/venezia/v1/venezia_pb";
import * as yn from "./gen/dogana/games/yunnan/v1/yunnan_pb";
import { type Choice, type Decision, play } from "./dogana";

/** Choose the action with the most points. Chance decides between equals, and in games without points. */
function choose(decision: Decision): Choice {
  const points = POINTS[decision.match.game];
  if (points === undefined || decision.rejection) {
    return Math.floor(Math.random() * decision.actionCount); // an unknown game, or an answer that was refused
  }
  const found = points(decision).map((value) => value + Math.random());
  return found.indexOf(Math.max(...found));
}

/** The points of all legal actions, by game. */
const POINTS: Record<string, (decision: Decision) => number[]> = {
  cargo_noir: (decision) => {
    const seen = decision.observation(cn.ObservationSchema);
    return decision.actions(cn.ActionListSchema).actions.map((action) => cargoNoir(decision.seat, seen, action));
  },
  valparaiso: (decision) => {
    const seen = decision.observation(vp.ObservationSchema);
    return decision.actions(vp.ActionListSchema).actions.map((action) => valparaiso(decision.seat, seen, action));
  },
  venezia: (decision) => {
    const seen = decision.observation(vz.ObservationSchema);
    return decision.actions(vz.ActionListSchema).actions.map((action) => venezia(decision.seat, seen, action));
  },
  yunnan: (decision) => decision.actions(yn.ActionListSchema).actions.map(yunnan),
};

// The points of an action in each game: a few simple rules to begin with. The game's RULES.md explains the actions;
// its file in proto/dogana/games/ describes each field of an action or an observation.

/** Collect goods, hand in large sets of one kind, buy the dearest card, and send ships where many goods lie. */
function cargoNoir(seat: number, seen: cn.Observation, { kind: action }: cn.Action): number {
  const me = seen.seats[seat];
  const isLast = seen.turn === seen.lastTurn;
  switch (action.case) {
    case "collect":
      return 100;
    case "casino":
      return 90;
    case "bmDraw":
      return 15;
    case "bmSwap": // take what there is most of, give what there is least of
      return 10 * (me.goods[action.value.take - 1] - me.goods[action.value.give - 1]);
    case "raise":
      return me.safe >= 4 && !isLast ? 50 : 20;
    case "withdraw":
      return 30;
    case "stake": // one coin more than needed
      return -Math.abs(action.value.coins - (seen.pendingStake?.min ?? 0) - 1);
    case "sellSame": {
      const size = action.value.n + action.value.wilds;
      return size >= 4 || isLast ? 100 + size : 0;
    }
    case "diffStart":
    case "diffAdd":
    case "diffClose":
      return isLast ? 60 : -10;
    case "buy":
      return 80 + action.value.card;
    case "endSmuggling":
      return 10;
    case "discard":
      return -me.goods[action.value.kind - 1];
    case "send": {
      const dest: number = action.value.dest; // destinations are the Casino, the Black Market and then the ports
      const port = seen.ports.find((one) => one.port === dest - 2);
      if (port) return 3 * sum(port.goods) - 2 * sum(port.stacks) + (me.safe > 2 ? 5 : -20);
      return dest === cn.Destination.CASINO && me.safe < 5 ? 15 : 2;
    }
  }
  return 0;
}

/** Load three goods of a kind, sail, and trade them overseas for an achievement; build when there is money. */
function valparaiso(seat: number, seen: vp.Observation, { kind: action }: vp.Action): number {
  const me = seen.seats[seat];
  const goods = me.warehouse.map((count, good) => count + me.hold[good]);
  const isLoaded = Math.max(...me.hold) >= 3;
  const isHome = me.ship === vp.Sector.H;
  // Cards whose main action helps now; the others are used for a good or for money.
  const useful: Record<number, number> = {
    [vp.Card.K8]: 100,
    [vp.Card.K5]: 90,
    [vp.Card.K1]: Math.max(...goods) >= 3 && !isLoaded ? 80 : 0,
    [vp.Card.K7]: isLoaded || !isHome ? 70 : 0,
  };
  switch (action.case) {
    case "goods": {
      const { first, second, third } = action.value;
      return 10 * (Number(first === second) + Number(second === third));
    }
    case "place":
      return 50 + (useful[action.value.card] ?? 20) / 10;
    case "commit":
      return 20;
    case "use": {
      const card = me.plan[action.value.slot - 1];
      const points = useful[card] ?? (card > vp.Card.K8 ? 60 : 0);
      return (action.value.mode === vp.Mode.MAIN ? points : 30) - action.value.slot;
    }
    case "transfer": {
      const load = [action.value.silver, action.value.copper, action.value.wheat];
      return sum(load) + 10 * load.filter((count) => count >= 3).length;
    }
    case "sail":
      if (action.value.sector === vp.Sector.H) return 5;
      return me.hold[action.value.sector - vp.Sector.OW] >= 3 ? 10 : 0; // OW wants silver, ON copper, OE wheat
    case "build":
    case "buildForGood":
      return 40;
    case "give":
    case "giveTwo":
    case "pay":
    case "scrap":
    case "trade":
    case "take":
    case "buy":
    case "hire":
      return 30;
    case "sell":
      return -10;
  }
  return 0;
}

/** Lay pigeons in three districts, the rivals' homes first; a few breed beside the tourists on the Piazza. */
function venezia(seat: number, seen: vz.Observation, { kind: action }: vz.Action): number {
  const homes = seen.seats.filter((_, other) => other !== seat).map((other) => other.home);

  /** This seat's lead in a place, in pigeons; negative if a rival leads. */
  function lead(place: vz.Place): number {
    const { pigeons } = seen.places[place - 1];
    return pigeons[seat] - Math.max(...pigeons.filter((_, other) => other !== seat));
  }

  /** The worth of a square for breeding: 5 on a tourist, 2 beside one, and less with the distance. */
  function bears(square: vz.Square): number {
    const [row, column] = [Math.floor((square - 1) / 10), (square - 1) % 10];
    const found = seen.tourists.map((tourist) => {
      const steps = Math.max(Math.abs(row - Math.floor((tourist - 1) / 10)), Math.abs(column - ((tourist - 1) % 10)));
      return steps === 0 ? 5 : steps === 1 ? 2 : 1 / steps;
    });
    return Math.max(0, ...found);
  }

  switch (action.case) {
    case "first":
      return action.value.card === vz.FirstCard.PIAZZA ? 10 : 0;
    case "card":
      return action.value.card === vz.ActionCard.NONE ? 0 : 5;
    case "district":
      return 20 - Math.abs(lead(action.value.place)) + (homes.includes(action.value.place) ? 5 : 0);
    case "count": {
      const left = 1 + (seen.plan?.chosen.length ?? 0) - (seen.plan?.counts.length ?? 0); // cards that still get pigeons
      return -Math.abs(action.value.pigeons - seen.seats[seat].reserve / Math.max(left, 1)); // an equal share for each
    }
    case "feint":
    case "reinforce":
    case "michele":
    case "fromReserve":
      return action.value.pigeons;
    case "placePigeon":
      return 10;
    case "walk":
    case "jump":
      return 10 * (bears(action.value.end) - bears(action.value.start));
    case "done":
    case "stop":
      return 1;
    case "fehde":
    case "recover":
      return 5;
    case "takeover":
      return -lead(action.value.district);
    case "purge":
      return action.value.seat === seat ? -10 : -lead(action.value.district);
    case "poison": {
      const pigeon = seen.piazza.find((one) => one.square === action.value.square);
      return pigeon?.seat === seat ? -5 : 5;
    }
    case "raptor":
      return -lead(action.value.place);
  }
  return 0;
}

/** Bid low for progress, move Merchants far out, where they earn most, and turn all income into points. */
function yunnan({ kind: action }: yn.Action): number {
  switch (action.case) {
    case "bid":
      return 10 - action.value.value / 3;
    case "take":
      return 10;
    case "buildPost":
      return 50 + action.value.province;
    case "buildTeahouse":
    case "buildBridge":
      return 60;
    case "move":
      return 10 * (action.value.end - action.value.start);
    case "displace":
    case "done":
      return 5;
    case "market":
      return 4;
    case "pass":
      return 1;
    case "convert":
      return action.value.points;
  }
  return 0;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

void play(choose);
