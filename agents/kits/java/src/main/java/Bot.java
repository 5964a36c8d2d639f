import dogana.games.cargo_noir.v1.CargoNoir;
import dogana.games.valparaiso.v1.Valparaiso;
import dogana.games.venezia.v1.Venezia;
import dogana.games.yunnan.v1.Yunnan;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** A bot that plays every game. Change the points that it gives to actions, or what `choose` does with them. */
public final class Bot {
  public static void main(String[] arguments) {
    Dogana.play(Bot::choose);
  }

  /** Chooses the action with the most points. Chance decides between equals, and in games without points. */
  static Dogana.Choice choose(Dogana.Decision decision) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    double[] points = points(decision);
    if (points == null || decision.rejection != null) { // an unknown game, or an answer that was refused
      return Dogana.Choice.index(random.nextInt(decision.message.getActionCount()));
    }
    int best = 0;
    for (int index = 0; index < points.length; index++) {
      points[index] += random.nextDouble();
      best = points[index] > points[best] ? index : best;
    }
    return Dogana.Choice.index(best);
  }

  /** The points of all legal actions; null for a game that this bot does not know. */
  private static double[] points(Dogana.Decision decision) {
    int seat = decision.match.getSeat();
    switch (decision.match.getGame()) {
      case "cargo_noir": {
        CargoNoir.Observation seen = decision.observation(CargoNoir.Observation.parser());
        List<CargoNoir.Action> actions = decision.actions(CargoNoir.ActionList.parser()).getActionsList();
        return actions.stream().mapToDouble(action -> cargoNoir(seat, seen, action)).toArray();
      }
      case "valparaiso": {
        Valparaiso.Observation seen = decision.observation(Valparaiso.Observation.parser());
        List<Valparaiso.Action> actions = decision.actions(Valparaiso.ActionList.parser()).getActionsList();
        return actions.stream().mapToDouble(action -> valparaiso(seat, seen, action)).toArray();
      }
      case "venezia": {
        Venezia.Observation seen = decision.observation(Venezia.Observation.parser());
        List<Venezia.Action> actions = decision.actions(Venezia.ActionList.parser()).getActionsList();
        return actions.stream().mapToDouble(action -> venezia(seat, seen, action)).toArray();
      }
      case "yunnan": {
        List<Yunnan.Action> actions = decision.actions(Yunnan.ActionList.parser()).getActionsList();
        return actions.stream().mapToDouble(Bot::yunnan).toArray();
      }
      default:
        return null;
    }
  }

  // The points of an action in each game: a few simple rules to begin with. The game's RULES.md explains the actions;
  // its file in proto/dogana/games/ describes each field of an action or an observation.

  /** Collect goods, hand in large sets of one kind, buy the dearest card, and send ships where many goods lie. */
  private static double cargoNoir(int seat, CargoNoir.Observation seen, CargoNoir.Action action) {
    CargoNoir.SeatView me = seen.getSeats(seat);
    boolean isLast = seen.getTurn() == seen.getLastTurn();
    return switch (action.getKindCase()) {
      case COLLECT -> 100;
      case CASINO -> 90;
      case BM_DRAW -> 15;
      case BM_SWAP -> { // take what there is most of, give what there is least of
        CargoNoir.BmSwap swap = action.getBmSwap();
        yield 10 * (me.getGoods(swap.getTakeValue() - 1) - me.getGoods(swap.getGiveValue() - 1));
      }
      case RAISE -> me.getSafe() >= 4 && !isLast ? 50 : 20;
      case WITHDRAW -> 30;
      case STAKE -> -Math.abs(action.getStake().getCoins() - seen.getPendingStake().getMin() - 1); // one coin more than needed
      case SELL_SAME -> {
        int size = action.getSellSame().getN() + action.getSellSame().getWilds();
        yield size >= 4 || isLast ? 100 + size : 0;
      }
      case DIFF_START, DIFF_ADD, DIFF_CLOSE -> isLast ? 60 : -10;
      case BUY -> 80 + action.getBuy().getCardValue();
      case END_SMUGGLING -> 10;
      case DISCARD -> -me.getGoods(action.getDiscard().getKindValue() - 1);
      case SEND -> {
        int dest = action.getSend().getDestValue(); // destinations are the Casino, the Black Market and then the ports
        for (CargoNoir.PortView port : seen.getPortsList()) {
          if (port.getPortValue() == dest - 2) {
            yield 3 * sum(port.getGoodsList()) - 2 * sum(port.getStacksList()) + (me.getSafe() > 2 ? 5 : -20);
          }
        }
        yield dest == CargoNoir.Destination.DESTINATION_CASINO_VALUE && me.getSafe() < 5 ? 15 : 2;
      }
      default -> 0;
    };
  }

  /** Load three goods of a kind, sail, and trade them overseas for an achievement; build when there is money. */
  private static double valparaiso(int seat, Valparaiso.Observation seen, Valparaiso.Action action) {
    Valparaiso.SeatView me = seen.getSeats(seat);
    int most = IntStream.range(0, 3).map(good -> me.getWarehouse(good) + me.getHold(good)).max().orElse(0);
    boolean isLoaded = Collections.max(me.getHoldList()) >= 3;
    boolean isHome = me.getShip() == Valparaiso.Sector.SECTOR_H;
    return switch (action.getKindCase()) {
      case GOODS -> {
        Valparaiso.Goods goods = action.getGoods();
        yield (goods.getFirst() == goods.getSecond() ? 10 : 0) + (goods.getSecond() == goods.getThird() ? 10 : 0);
      }
      case PLACE -> 50 + useful(action.getPlace().getCard(), 20, most >= 3, isLoaded, isHome) / 10;
      case COMMIT -> 20;
      case USE -> {
        Valparaiso.Card card = me.getPlan(action.getUse().getSlot() - 1);
        int other = card.getNumber() > Valparaiso.Card.CARD_K8_VALUE ? 60 : 0;
        boolean isMain = action.getUse().getMode() == Valparaiso.Mode.MODE_MAIN;
        yield (isMain ? useful(card, other, most >= 3, isLoaded, isHome) : 30) - action.getUse().getSlot();
      }
      case TRANSFER -> {
        Valparaiso.Transfer load = action.getTransfer();
        List<Integer> goods = List.of(load.getSilver(), load.getCopper(), load.getWheat());
        yield sum(goods) + 10 * goods.stream().filter(count -> count >= 3).count();
      }
      case SAIL -> {
        int sector = action.getSail().getSectorValue(); // OW wants silver, ON copper, OE wheat
        boolean isWanted = sector > 1 && me.getHold(sector - Valparaiso.Sector.SECTOR_OW_VALUE) >= 3;
        yield sector == Valparaiso.Sector.SECTOR_H_VALUE ? 5 : isWanted ? 10 : 0;
      }
      case BUILD, BUILD_FOR_GOOD -> 40;
      case GIVE, GIVE_TWO, PAY, SCRAP, TRADE, TAKE, BUY, HIRE -> 30;
      case SELL -> -10;
      default -> 0;
    };
  }

  /** The points of a card's main action; a card whose main action does not help now is used for a good or for money. */
  private static double useful(Valparaiso.Card card, double other, boolean hasThree, boolean isLoaded, boolean isHome) {
    return switch (card) {
      case CARD_K8 -> 100;
      case CARD_K5 -> 90;
      case CARD_K1 -> hasThree && !isLoaded ? 80 : 0;
      case CARD_K7 -> isLoaded || !isHome ? 70 : 0;
      default -> other;
    };
  }

  /** Lay pigeons in three districts, the rivals' homes first; a few breed beside the tourists on the Piazza. */
  private static double venezia(int seat, Venezia.Observation seen, Venezia.Action action) {
    return switch (action.getKindCase()) {
      case FIRST -> action.getFirst().getCard() == Venezia.FirstCard.FIRST_CARD_PIAZZA ? 10 : 0;
      case CARD -> action.getCard().getCard() == Venezia.ActionCard.ACTION_CARD_NONE ? 0 : 5;
      case DISTRICT -> {
        Venezia.Place place = action.getDistrict().getPlace();
        boolean isHome =
            IntStream.range(0, seen.getSeatsCount()).anyMatch(one -> one != seat && seen.getSeats(one).getHome() == place);
        yield 20 - Math.abs(lead(seat, seen, place)) + (isHome ? 5 : 0);
      }
      case COUNT -> { // an equal share for each card that is still to come
        int cards = Math.max(1, 1 + seen.getPlan().getChosenCount() - seen.getPlan().getCountsCount());
        yield -Math.abs(action.getCount().getPigeons() - (double) seen.getSeats(seat).getReserve() / cards);
      }
      case FEINT -> action.getFeint().getPigeons();
      case REINFORCE -> action.getReinforce().getPigeons();
      case MICHELE -> action.getMichele().getPigeons();
      case FROM_RESERVE -> action.getFromReserve().getPigeons();
      case PLACE_PIGEON -> 10;
      case WALK -> 10 * (bears(seen, action.getWalk().getEndValue()) - bears(seen, action.getWalk().getStartValue()));
      case JUMP -> 10 * (bears(seen, action.getJump().getEndValue()) - bears(seen, action.getJump().getStartValue()));
      case DONE, STOP -> 1;
      case FEHDE, RECOVER -> 5;
      case TAKEOVER -> -lead(seat, seen, action.getTakeover().getDistrict());
      case PURGE -> action.getPurge().getSeat() == seat ? -10 : -lead(seat, seen, action.getPurge().getDistrict());
      case POISON -> {
        Venezia.Square square = action.getPoison().getSquare();
        boolean isOwn = seen.getPiazzaList().stream().anyMatch(one -> one.getSquare() == square && one.getSeat() == seat);
        yield isOwn ? -5 : 5;
      }
      case RAPTOR -> -lead(seat, seen, action.getRaptor().getPlace());
      default -> 0;
    };
  }

  /** A seat's lead in a place, in pigeons; negative if a rival leads. */
  private static int lead(int seat, Venezia.Observation seen, Venezia.Place place) {
    List<Integer> pigeons = seen.getPlaces(place.getNumber() - 1).getPigeonsList();
    int rival = IntStream.range(0, pigeons.size()).filter(one -> one != seat).map(pigeons::get).max().orElse(0);
    return pigeons.get(seat) - rival;
  }

  /** The worth of a square for breeding: 5 on a tourist, 2 beside one, and less with the distance. */
  private static double bears(Venezia.Observation seen, int square) {
    double most = 0;
    for (int tourist : seen.getTouristsValueList()) {
      int rows = Math.abs((square - 1) / 10 - (tourist - 1) / 10);
      int columns = Math.abs((square - 1) % 10 - (tourist - 1) % 10);
      int steps = Math.max(rows, columns);
      most = Math.max(most, steps == 0 ? 5 : steps == 1 ? 2 : 1.0 / steps);
    }
    return most;
  }

  /** Bid low for progress, move Merchants far out, where they earn most, and turn all income into points. */
  private static double yunnan(Yunnan.Action action) {
    return switch (action.getKindCase()) {
      case BID -> 10 - action.getBid().getValue() / 3.0;
      case TAKE -> 10;
      case BUILD_POST -> 50 + action.getBuildPost().getProvinceValue();
      case BUILD_TEAHOUSE, BUILD_BRIDGE -> 60;
      case MOVE -> 10 * (action.getMove().getEndValue() - action.getMove().getStartValue());
      case DISPLACE, DONE -> 5;
      case MARKET -> 4;
      case PASS -> 1;
      case CONVERT -> action.getConvert().getPoints();
      default -> 0;
    };
  }

  private static int sum(List<Integer> numbers) {
    return numbers.stream().mapToInt(Integer::intValue).sum();
  }
}
