import core.AbstractForwardModel;
import core.AbstractGameState;
import core.Game;
import core.actions.AbstractAction;
import games.GameType;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Plays games of TAG at random: `java -cp CLASSES Playouts.java SECONDS GAME:PLAYERS...`, as bench/tag.py runs it.
 *
 * For each game it prints its name and the decisions a second; each playout sets its game up. They are by the processor time of the
 * whole process, its collector and compiler included, in the median of three spans of SECONDS once the compiler is done.
 */
final class Playouts {
    private static final int LONGEST = 100_000;
    private static final int MOST_SPANS = 15;
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** Something that is done again and again; it says how often it counts. */
    private interface Work {
        int once();
    }

    public static void main(String[] arguments) {
        double seconds = Double.parseDouble(arguments[0]);
        for (int at = 1; at < arguments.length; at++) {
            String[] wanted = arguments[at].split(":");
            Game game = GameType.valueOf(wanted[0]).createGameInstance(Integer.parseInt(wanted[1]), 1L);
            AbstractForwardModel rules = game.getForwardModel();
            AbstractGameState start = game.getGameState();
            Random chance = new Random(1);
            double fromStart = rate(() -> setUpAndPlay(rules, start, chance), seconds);
            System.out.printf("%s %.1f%n", wanted[0], fromStart);
        }
    }

    /** Sets a game up and plays it at random, for LONGEST decisions at most; returns how many there were. */
    private static int setUpAndPlay(AbstractForwardModel rules, AbstractGameState state, Random chance) {
        rules.setup(state);
        int made = 0;
        while (made < LONGEST && state.isNotTerminal()) {
            List<AbstractAction> legal = rules.computeAvailableActions(state);
            rules.next(state, legal.get(chance.nextInt(legal.size())));
            made++;
        }
        return made;
    }

    /** Returns the median of three spans, once two in a row have not bettered the best by a twentieth: then all is compiled. */
    private static double rate(Work work, double seconds) {
        double best = 0;
        for (int span = 0, level = 0; span < MOST_SPANS && level < 2; span++) {
            double rate = repeat(work, seconds);
            level = rate > 1.05 * best ? 0 : level + 1;
            best = Math.max(best, rate);
        }
        double[] rates = {repeat(work, seconds), repeat(work, seconds), repeat(work, seconds)};
        Arrays.sort(rates);
        return rates[1];
    }

    private static double repeat(Work work, double seconds) {
        long begin = SYSTEM.getProcessCpuTime();
        double done = 0;
        double spent;
        do {
            done += work.once();
            spent = (SYSTEM.getProcessCpuTime() - begin) / 1e9;
        } while (spent < seconds);
        return done / spent;
    }
}
