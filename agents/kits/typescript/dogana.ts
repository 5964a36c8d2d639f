// The connection to the referee: joins a match, asks `choose`, and sends its answers. There is no need to change it.

import { readFileSync } from "node:fs";
import { setImmediate, setTimeout } from "node:timers/promises";

import { type DescMessage, type JsonObject, type MessageShape, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";

import {
  type AgentMessage,
  AgentMessageSchema,
  type Decide,
  type GameOver,
  type RefereeMessage,
  RefereeMessageSchema,
  type Rejected,
  Rejected_Reason,
  type Welcome,
} from "./gen/dogana/v1/referee_pb";

const PROTOCOL = 1; // the version that this file speaks
const START_ME = `this bot must be started by the referee, or given the referee's address:
  dogana play GAME cmd:'node bot.js' random      starts it
  DOGANA_ADDRESS=host:port DOGANA_TOKEN=... node bot.js      joins a \`remote\` seat`;

/** The match cannot begin or go on; the text says why and what to do. */
export class AgentError extends Error {}
class LostConnection extends AgentError {}

/** The facts that stay the same for the whole match. */
export class Match {
  readonly game: string;
  readonly matchId: string;
  /** This bot's seat, from 0. */
  readonly seat: number;
  readonly seats: number;
  /** All options, as text. */
  readonly options: Record<string, string>;
  /** The printed numbers of the game (its board.toml). */
  readonly board: JsonObject;

  constructor(readonly welcome: Welcome) {
    this.game = welcome.game;
    this.matchId = welcome.matchId;
    this.seat = welcome.seat;
    this.seats = welcome.seats;
    this.options = welcome.options;
    this.board = welcome.board ?? {};
  }
}

/** The answer of a bot: an index into the legal actions, or actions to be played in a row (`turn`). */
export type Choice = number | Any;

/** Actions to be played in a row; the first must be legal now. `list` is the game's ActionListSchema. */
export function turn<L extends DescMessage>(list: L, actions: MessageShape<L> extends { actions: infer A } ? A : never): Choice {
  const message = create(list, { actions } as never);
  return create(AnySchema, { typeUrl: `type.googleapis.com/${list.typeName}`, value: toBinary(list, message) });
}

/** One decision of this bot. */
export class Decision {
  readonly number: bigint;
  readonly actionCount: number;
  readonly seat: number;
  /** A label for each legal action, if `play` was called with `labels`. */
  readonly labels: string[];
  /** The reason why the rest of the last answer with several actions was not played; empty if all of it was. */
  readonly dropped: string;
  /** The refusal of the previous answer to this same decision. */
  rejection?: Rejected;
  /** Whether an answer is no longer wanted: time was up, others have overtaken this seat, or the match has ended. */
  isWithdrawn = false;
  deadline = 0;

  constructor(
    readonly match: Match,
    readonly message: Decide,
  ) {
    this.number = message.decision;
    this.actionCount = message.actionCount;
    this.seat = match.seat;
    this.labels = message.labels;
    this.dropped = message.dropped;
    this.setDeadline(message.clock?.budgetMs ?? 0);
  }

  /** The part of the state that this seat may know; `schema` is the game's ObservationSchema. */
  observation<T extends DescMessage>(schema: T): MessageShape<T> {
    return fromBinary(schema, this.message.observation?.value ?? new Uint8Array());
  }

  /** The legal actions; `schema` is the game's ActionListSchema. */
  actions<T extends DescMessage>(schema: T): MessageShape<T> {
    return fromBinary(schema, this.message.actions?.value ?? new Uint8Array());
  }

  /** The time left for this decision, in seconds. Call `await look()` first, to take new messages into account. */
  get secondsLeft(): number {
    return (this.deadline - performance.now()) / 1000;
  }

  /** Take in the referee's new messages: a bot that thinks for a long time calls this from time to time. */
  async look(): Promise<void> {
    await setImmediate();
  }

  setDeadline(budgetMs: number): void {
    this.deadline = performance.now() + budgetMs;
  }
}

export interface Options {
  /** Whether each legal action comes with a text. */
  labels?: boolean;
  onStart?: (match: Match) => void;
  onEnd?: (match: Match, over: GameOver) => void;
}

/**
 * Join a match and play it to its end.
 *
 * An error is printed in one line on standard error; the process then ends with status 1. A bot that has joined over TCP and loses
 * the connection tries to reconnect, for about ten minutes; the referee then repeats the open question.
 */
export async function play(choose: (decision: Decision) => Choice | Promise<Choice>, options: Options = {}): Promise<void> {
  try {
    const address = process.env.DOGANA_ADDRESS;
    const token = process.env.DOGANA_TOKEN;
    if (!address || !token) throw new AgentError(START_ME);
    await playAt(address, token, choose, options);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error; // a fault in `choose`: its trace is in the bot's log
    console.error(`dogana bot: ${error.message}`);
    process.exitCode = 1;
  }
}

async function playAt(
  address: string,
  token: string,
  choose: (decision: Decision) => Choice | Promise<Choice>,
  options: Options,
): Promise<void> {
  let match: Match | undefined;
  let attempt = 0;
  const welcomed = (welcome: Welcome): Match => {
    attempt = 0;
    if (match === undefined) {
      match = new Match(welcome);
      options.onStart?.(match);
    }
    return match;
  };
  for (;;) {
    try {
      const over = await converse(address, token, options.labels ?? false, welcomed, choose);
      options.onEnd?.(match!, over);
      return;
    } catch (error) {
      // A started bot ends with its referee; one that was never welcomed may have been given a wrong address.
      if (!(error instanceof LostConnection) || match === undefined || address.startsWith("unix:") || attempt === 18) {
        throw error;
      }
      const pause = Math.min(60, 2 ** attempt++) * (0.5 + Math.random() / 2); // chance spreads the attempts of many bots
      console.error(`dogana bot: ${error.message}; trying again in ${pause.toFixed(1)} s`);
      await setTimeout(pause * 1000);
    }
  }
}

/** Play over one connection; return the end of the match. */
function converse(
  address: string,
  token: string,
  labels: boolean,
  welcomed: (welcome: Welcome) => Match,
  choose: (decision: Decision) => Choice | Promise<Choice>,
): Promise<GameOver> {
  const client = new grpc.Client(address, credentials(), {
    "grpc.max_receive_message_length": -1,
    // Detects a connection that was lost silently. A started bot needs no pings, and may be stopped while it has no question.
    ...(address.startsWith("unix:") ? {} : { "grpc.keepalive_time_ms": 30_000, "grpc.keepalive_timeout_ms": 10_000 }),
    "grpc.use_local_subchannel_pool": 1, // an attempt to reconnect does not wait for an earlier one
  });
  const stream = client.makeBidiStreamRequest<AgentMessage, RefereeMessage>(
    "/dogana.v1.Referee/Play",
    (message) => Buffer.from(toBinary(AgentMessageSchema, message)),
    (bytes) => fromBinary(RefereeMessageSchema, bytes),
  );
  return new Promise<GameOver>((resolve, reject) => {
    let match: Match | undefined;
    let decision: Decision | undefined;

    async function answer(question: Decision): Promise<void> {
      const choice = await choose(question);
      if (question.isWithdrawn || decision !== question) return;
      if (typeof choice === "number" && !(Number.isInteger(choice) && choice >= 0 && choice < 2 ** 32)) {
        throw new AgentError(`choose returned ${choice}; an index counts from 0 to ${question.actionCount - 1}`);
      }
      const what = typeof choice === "number" ? { case: "index" as const, value: choice } : { case: "actions" as const, value: choice };
      stream.write(
        create(AgentMessageSchema, { message: { case: "choose", value: { decision: question.number, choice: what } } }),
      );
    }

    stream.on("data", ({ message }: RefereeMessage) => {
      switch (message.case) {
        case "welcome":
          match = welcomed(message.value);
          break;
        case "decide":
          if (decision) decision.isWithdrawn = true;
          if (!match) break;
          decision = new Decision(match, message.value);
          answer(decision).catch(reject);
          break;
        case "newDeadline":
          if (decision?.number === message.value.decision) decision.setDeadline(message.value.clock?.budgetMs ?? 0);
          break;
        case "withdrawn":
          if (decision?.number === message.value.decision) decision.isWithdrawn = true;
          break;
        case "rejected":
          report(message.value);
          if (decision?.number === message.value.decision && message.value.reason !== Rejected_Reason.STALE) {
            decision.rejection = message.value;
            answer(decision).catch(reject);
          }
          break;
        case "gameOver":
          if (decision) decision.isWithdrawn = true;
          resolve(message.value);
          break;
        // Other messages are of a newer protocol, and this bot need not know them.
      }
    });
    stream.on("error", (error: grpc.ServiceError) => {
      if (decision) decision.isWithdrawn = true;
      reject(explained(error.code, error.details, address));
    });
    stream.on("end", () => reject(new AgentError("the referee ended the stream before the match was over")));
    stream.write(create(AgentMessageSchema, { message: { case: "join", value: { token, protocol: PROTOCOL, labels } } }));
  }).finally(() => {
    stream.on("error", () => {}); // cancelled by us
    stream.cancel();
    client.close();
  });
}

function credentials(): grpc.ChannelCredentials {
  const file = process.env.DOGANA_CA;
  if (!file) return grpc.credentials.createInsecure();
  try {
    return grpc.credentials.createSsl(readFileSync(file));
  } catch (error) {
    throw new AgentError(`cannot read the certificate ${file}: ${(error as Error).message}`);
  }
}

function report(rejected: Rejected): void {
  const rule = rejected.rule ? ` (${rejected.rule})` : "";
  const reason = Rejected_Reason[rejected.reason]?.toLowerCase();
  console.error(
    `dogana bot: decision ${rejected.decision} refused as ${reason}: ${rejected.message}${rule}; strike ${rejected.strikes}`,
  );
}

/** Explain the end of a stream, and say what to do. */
function explained(code: grpc.status, details: string, address: string): AgentError {
  switch (code) {
    case grpc.status.UNAVAILABLE:
    case grpc.status.UNKNOWN:
    case grpc.status.INTERNAL:
    case grpc.status.CANCELLED:
      return new LostConnection(`no referee answers at ${address} (${details}); is it running, and the address right?`);
    case grpc.status.FAILED_PRECONDITION:
      return new AgentError(`the referee refused (FAILED_PRECONDITION): ${details}; make a new kit with a newer dogana`);
    case grpc.status.UNIMPLEMENTED:
      return new AgentError(`the referee refused (UNIMPLEMENTED): ${details}; is it a referee that listens at ${address}?`);
    default:
      return new AgentError(`the referee refused (${grpc.status[code]}): ${details}`);
  }
}
