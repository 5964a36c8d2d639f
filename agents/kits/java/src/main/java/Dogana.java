import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import dogana.v1.RefereeOuterClass.AgentMessage;
import dogana.v1.RefereeOuterClass.Choose;
import dogana.v1.RefereeOuterClass.Decide;
import dogana.v1.RefereeOuterClass.GameOver;
import dogana.v1.RefereeOuterClass.Join;
import dogana.v1.RefereeOuterClass.RefereeMessage;
import dogana.v1.RefereeOuterClass.Rejected;
import dogana.v1.RefereeOuterClass.Welcome;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.File;
import java.net.UnixDomainSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The connection to the referee: joins a match, asks the bot, and sends its answers. There is no need to change it. */
public final class Dogana {
  private static final int PROTOCOL = 1; // the version that this file speaks
  private static final int ATTEMPTS = 18; // to reconnect, in about ten minutes
  private static final String START_ME =
      """
      this bot must be started by the referee, or given the referee's address:
        dogana play GAME cmd:'java -jar bot.jar' random      starts it
        DOGANA_ADDRESS=host:port DOGANA_TOKEN=... java -jar bot.jar      joins a `remote` seat""";
  private static final MethodDescriptor<AgentMessage, RefereeMessage> PLAY =
      MethodDescriptor.<AgentMessage, RefereeMessage>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName("dogana.v1.Referee/Play")
          .setRequestMarshaller(ProtoUtils.marshaller(AgentMessage.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(RefereeMessage.getDefaultInstance()))
          .build();

  private static final Logger NETTY = Logger.getLogger("io.netty");

  private Dogana() {}

  /** The answer of a bot. */
  public static final class Choice {
    private final Choose.Builder choose = Choose.newBuilder();

    private Choice() {}

    /** The action at this index in the list of legal actions, counted from 0. */
    public static Choice index(int index) {
      Choice choice = new Choice();
      choice.choose.setIndex(index);
      return choice;
    }

    /** Actions to be played in a row: an ActionList of the game. The first must be legal now. */
    public static Choice actions(Message list) {
      Choice choice = new Choice();
      choice.choose.setActions(Any.pack(list));
      return choice;
    }
  }

  /** One decision of this bot. */
  public static final class Decision {
    /** The facts that stay the same for the whole match: the game, the seat, the options, the printed numbers (board). */
    public final Welcome match;

    /** The question: action count, labels, actions played, the clock, and why a part of the last answer was dropped. */
    public final Decide message;

    /** The refusal of the previous answer to this same decision, or null. */
    public Rejected rejection;

    private volatile boolean withdrawn;
    private volatile long deadline; // in nanoseconds, as System.nanoTime

    private Decision(Welcome match, Decide message) {
      this.match = match;
      this.message = message;
      setBudget(message.getClock().getBudgetMs());
    }

    /** The part of the state that this seat may know; the parser is that of the game's Observation. */
    public <T extends Message> T observation(Parser<T> parser) {
      return parsed(parser, message.getObservation());
    }

    /** The legal actions; the parser is that of the game's ActionList. */
    public <T extends Message> T actions(Parser<T> parser) {
      return parsed(parser, message.getActions());
    }

    /** The time left for this decision, in seconds; it also changes when another seat starts a sand timer. */
    public double secondsLeft() {
      return (deadline - System.nanoTime()) / 1e9;
    }

    /** Whether an answer is no longer wanted: time was up, others have overtaken this seat, or the match has ended. */
    public boolean isWithdrawn() {
      return withdrawn;
    }

    private void setBudget(double milliseconds) {
      deadline = System.nanoTime() + (long) (milliseconds * 1e6);
    }

    private static <T extends Message> T parsed(Parser<T> parser, Any any) {
      try {
        return parser.parseFrom(any.getValue());
      } catch (InvalidProtocolBufferException error) {
        throw new AgentError("the referee sent a message that is not of this game; make a new kit with a newer dogana");
      }
    }
  }

  /** The match cannot begin or go on; the text says why and what to do. */
  private static class AgentError extends RuntimeException {
    AgentError(String reason) {
      super(reason);
    }
  }

  private static final class LostConnection extends AgentError {
    LostConnection(String reason) {
      super(reason);
    }
  }

  /**
   * Joins a match and plays it to its end.
   *
   * <p>An error is printed in one line on standard error; the process then ends with status 1. A bot that has joined over TCP
   * and loses the connection tries to reconnect, for about ten minutes; the referee then repeats the open question.
   */
  public static void play(Function<Decision, Choice> bot) {
    String address = System.getenv("DOGANA_ADDRESS");
    String token = System.getenv("DOGANA_TOKEN");
    NETTY.setLevel(Level.SEVERE); // it warns of an option that Unix domain sockets do not have
    try {
      if (address == null || address.isEmpty() || token == null || token.isEmpty()) {
        throw new AgentError(START_ME);
      }
      playAt(address, token, bot);
    } catch (AgentError error) {
      System.err.println("dogana bot: " + error.getMessage());
      System.exit(1);
    }
  }

  private static void playAt(String address, String token, Function<Decision, Choice> bot) {
    boolean wasWelcome = false;
    for (int attempt = 0; ; attempt++) {
      Conversation conversation = new Conversation(address, token);
      try {
        conversation.play(bot);
        return;
      } catch (LostConnection lost) {
        if (conversation.match != null) {
          wasWelcome = true;
          attempt = 0;
        }
        // A started bot ends with its referee; one that was never welcomed may have been given a wrong address.
        if (!wasWelcome || address.startsWith("unix:") || attempt == ATTEMPTS) {
          throw lost;
        }
        // Chance spreads the attempts of many bots.
        double pause = Math.min(60, 1L << attempt) * ThreadLocalRandom.current().nextDouble(0.5, 1);
        System.err.printf("dogana bot: %s; trying again in %.1f s%n", lost.getMessage(), pause);
        sleep((long) (pause * 1000));
      }
    }
  }

  /** One connection. The thread of gRPC reads, notes what changes an open decision, and queues the rest for the bot's thread. */
  private static final class Conversation implements StreamObserver<RefereeMessage> {
    private static final Object END = new Object();

    private final String address;
    private final String token;
    private final BlockingQueue<Object> unread = new LinkedBlockingQueue<>(); // Decision, Rejected, AgentError or END
    private StreamObserver<AgentMessage> referee;
    private volatile Welcome match;
    private volatile Decision open;

    Conversation(String address, String token) {
      this.address = address;
      this.token = token;
    }

    void play(Function<Decision, Choice> bot) {
      NioEventLoopGroup threads = new NioEventLoopGroup(1, new DefaultThreadFactory("dogana", true));
      ManagedChannel channel = channel(address, threads);
      try {
        referee = ClientCalls.asyncBidiStreamingCall(channel.newCall(PLAY, CallOptions.DEFAULT), this);
        Join join = Join.newBuilder().setToken(token).setProtocol(PROTOCOL).build();
        referee.onNext(AgentMessage.newBuilder().setJoin(join).build());
        while (true) {
          Object news = unread.take();
          if (news instanceof Decision decision) {
            answer(bot, decision);
          } else if (news instanceof Rejected rejected) {
            report(rejected);
            Decision current = open; // the thread of gRPC may replace it at any moment
            if (isAgain(rejected, current)) {
              current.rejection = rejected;
              answer(bot, current);
            }
          } else if (news instanceof AgentError error) {
            throw error;
          } else {
            return;
          }
        }
      } catch (InterruptedException error) {
        throw new AgentError("interrupted");
      } finally {
        channel.shutdownNow();
        threads.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      }
    }

    private void answer(Function<Decision, Choice> bot, Decision decision) {
      if (decision.withdrawn) {
        return;
      }
      Choice choice = bot.apply(decision);
      if (!decision.withdrawn) {
        Choose choose = choice.choose.setDecision(decision.message.getDecision()).build();
        referee.onNext(AgentMessage.newBuilder().setChoose(choose).build());
      }
    }

    private static boolean isAgain(Rejected rejected, Decision current) {
      return current != null
          && rejected.getDecision() == current.message.getDecision()
          && rejected.getReason() != Rejected.Reason.REASON_STALE;
    }

    @Override
    public void onNext(RefereeMessage message) {
      Decision before = open;
      switch (message.getMessageCase()) {
        case WELCOME -> match = message.getWelcome();
        case DECIDE -> {
          withdraw(before);
          open = new Decision(match, message.getDecide());
          unread.add(open);
        }
        case NEW_DEADLINE -> {
          if (before != null && before.message.getDecision() == message.getNewDeadline().getDecision()) {
            before.setBudget(message.getNewDeadline().getClock().getBudgetMs());
          }
        }
        case WITHDRAWN -> {
          if (before != null && before.message.getDecision() == message.getWithdrawn().getDecision()) {
            withdraw(before);
          }
        }
        case REJECTED -> unread.add(message.getRejected());
        case GAME_OVER -> {
          withdraw(before);
          unread.add(END);
        }
        default -> {} // of a newer protocol, and this bot need not know it
      }
    }

    @Override
    public void onError(Throwable error) {
      withdraw(open);
      unread.add(explained(Status.fromThrowable(error), address));
    }

    @Override
    public void onCompleted() {
      withdraw(open);
      unread.add(new AgentError("the referee ended the stream before the match was over"));
    }

    private static void withdraw(Decision decision) {
      if (decision != null) {
        decision.withdrawn = true;
      }
    }
  }

  private static ManagedChannel channel(String address, NioEventLoopGroup threads) {
    NettyChannelBuilder builder;
    if (address.startsWith("unix:")) {
      // Java's own Unix domain sockets: no native library is needed.
      builder =
          NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(address.substring("unix:".length())))
              .overrideAuthority("localhost")
              .channelFactory(NioDomainSocketChannel::new);
    } else {
      builder =
          NettyChannelBuilder.forTarget(address)
              .channelFactory(NioSocketChannel::new)
              // Detects a connection that was lost silently. A started bot needs no pings, and may be stopped while it has no
              // question.
              .keepAliveTime(30, TimeUnit.SECONDS)
              .keepAliveTimeout(10, TimeUnit.SECONDS);
    }
    String authority = System.getenv("DOGANA_CA");
    if (authority == null || authority.isEmpty()) {
      builder.usePlaintext();
    } else {
      try {
        builder.sslContext(GrpcSslContexts.forClient().trustManager(new File(authority)).build());
      } catch (Exception error) {
        throw new AgentError("cannot read the certificate " + authority + ": " + error.getMessage());
      }
    }
    return builder
        .eventLoopGroup(threads)
        .directExecutor()
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .build();
  }

  private static void report(Rejected rejected) {
    String reason = rejected.getReason().name().replace("REASON_", "").toLowerCase();
    String rule = rejected.getRule().isEmpty() ? "" : " (" + rejected.getRule() + ")";
    System.err.printf(
        "dogana bot: decision %d refused as %s: %s%s; strike %d%n",
        rejected.getDecision(), reason, rejected.getMessage(), rule, rejected.getStrikes());
  }

  /** Explains the end of a stream, and says what to do. */
  private static AgentError explained(Status status, String address) {
    String details = status.getDescription();
    if (details == null) {
      details = String.valueOf(status.getCause());
    }
    return switch (status.getCode()) {
      case UNAVAILABLE, UNKNOWN, INTERNAL, CANCELLED ->
          new LostConnection(
              "no referee answers at %s (%s); is it running, and the address right?".formatted(address, details));
      case FAILED_PRECONDITION ->
          new AgentError(
              "the referee refused (FAILED_PRECONDITION): %s; make a new kit with a newer dogana".formatted(details));
      case UNIMPLEMENTED ->
          new AgentError(
              "the referee refused (UNIMPLEMENTED): %s; is it a referee that listens at %s?".formatted(details, address));
      default -> new AgentError("the referee refused (%s): %s".formatted(status.getCode(), details));
    };
  }

  private static void sleep(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException error) {
      throw new AgentError("interrupted");
    }
  }
}
