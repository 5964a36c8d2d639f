// Package dogana connects a bot to the referee: it joins, asks the bot for each decision, and sends its answers.
//
// A complete bot, for every game:
//
//	func main() {
//		dogana.Play(func(decision *dogana.Decision) dogana.Answer { return dogana.Index(0) })
//	}
package dogana

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"bot/messages/referee"
)

const (
	protocol         = 1       // the version of the protocol that this file speaks
	maxMessageBytes  = 8 << 20 // the largest message that is read
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
	firstWait        = time.Second // before a remote bot that has lost its connection reconnects; then twice as long, and so on
	longestWait      = 60 * time.Second
	patience         = 10 * time.Minute // the time without a connection after which it gives up
	endWait          = time.Second      // the time allowed for a choice to go on after the end of the match
)

const startMe = `this bot must be started by the referee, or given the referee's address:
  dogana play GAME cmd:./bot random      starts it
  DOGANA_ADDRESS=host:port DOGANA_TOKEN=... ./bot      joins a remote seat`

// Answer is the answer of a bot: see Index and Turn.
type Answer struct {
	index   uint32
	actions []proto.Message
}

// Index answers with the index of an action in the list of legal actions, counted from 0.
func Index(index int) Answer {
	return Answer{index: uint32(index)}
}

// Turn answers with an action, or with several that are played in a row. The first must be legal; each further one is played
// while this seat is still to act and the action is legal by then.
func Turn[Action proto.Message](actions ...Action) Answer {
	answer := Answer{}
	for _, action := range actions {
		answer.actions = append(answer.actions, action)
	}
	return answer
}

// Decision is one decision of the bot.
type Decision struct {
	Match     *referee.Welcome  // the facts that stay the same: the game, the seat, the options, the numbers of the board
	Message   *referee.Decide   // the question: the action count, the actions played since the last one, the clock
	Rejection *referee.Rejected // the refusal of the last answer to this same question; nil if there was none

	mutex     sync.Mutex
	deadline  time.Time
	withdrawn bool
}

// Read reads the part of the state that the seat may know, and the legal actions, into the game's Observation and ActionList.
func (decision *Decision) Read(observation, actions proto.Message) {
	for _, part := range []struct {
		from *anypb.Any
		to   proto.Message
	}{{decision.Message.Observation, observation}, {decision.Message.Actions, actions}} {
		if err := part.from.UnmarshalTo(part.to); err != nil {
			giveUp("the referee sent a message that is not of this game (%v); make a new kit with a newer dogana", err)
		}
	}
}

// TimeLeft returns the time left for this decision. It also changes when a sand timer starts.
func (decision *Decision) TimeLeft() time.Duration {
	decision.mutex.Lock()
	defer decision.mutex.Unlock()
	return time.Until(decision.deadline)
}

// Withdrawn returns whether an answer is no longer wanted: time was up, others were faster, or the match has ended.
func (decision *Decision) Withdrawn() bool {
	decision.mutex.Lock()
	defer decision.mutex.Unlock()
	return decision.withdrawn
}

func (decision *Decision) withdraw() {
	decision.mutex.Lock()
	defer decision.mutex.Unlock()
	decision.withdrawn = true
}

func (decision *Decision) setClock(clock *referee.Clock) {
	decision.mutex.Lock()
	defer decision.mutex.Unlock()
	decision.deadline = time.Now().Add(time.Duration(clock.GetBudgetMs() * float64(time.Millisecond)))
}

// Play plays one match to its end, then ends the process: with status 0 after the end of the match, else with status 1 and
// a line on standard error that says why.
func Play(choose func(*Decision) Answer) {
	address, token := os.Getenv("DOGANA_ADDRESS"), os.Getenv("DOGANA_TOKEN")
	if address == "" || token == "" {
		giveUp(startMe)
	}
	secure := insecure.NewCredentials()
	if authority := os.Getenv("DOGANA_CA"); authority != "" {
		certificate, err := credentials.NewClientTLSFromFile(authority, "")
		if err != nil {
			giveUp("cannot read the certificate %s: %v", authority, err)
		}
		secure = certificate
	}
	remote := !strings.HasPrefix(address, "unix:")
	target := address
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(secure),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)),
	}
	if remote { // a started bot needs no pings, and may be stopped while it has no question
		target = "passthrough:///" + address
		options = append(options, grpc.WithKeepaliveParams(
			keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}))
	}
	connection, err := grpc.NewClient(target, options...)
	if err != nil {
		giveUp("DOGANA_ADDRESS is %q, which is not an address: %v", address, err)
	}
	wait, lost := firstWait, time.Time{}
	for {
		welcomed, err := playStream(connection, token, choose)
		if err == nil {
			os.Exit(0)
		}
		if welcomed {
			wait, lost = firstWait, time.Now()
		}
		if !remote || lost.IsZero() || !isLost(err) || time.Since(lost) > patience {
			giveUp("%s", explain(err, address))
		}
		pause := time.Duration((0.5 + rand.Float64()/2) * float64(wait)) // so that bots do not all reconnect at once
		fmt.Fprintf(os.Stderr, "dogana bot: %s; trying again in %.1f s\n", explain(err, address), pause.Seconds())
		time.Sleep(pause)
		connection.ResetConnectBackoff() // gRPC has a backoff of its own
		wait = min(2*wait, longestWait)
	}
}

// playStream plays on one stream. It returns whether the referee has greeted the bot, and nil once the match is over.
func playStream(connection *grpc.ClientConn, token string, choose func(*Decision) Answer) (bool, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shape := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := connection.NewStream(ctx, shape, "/dogana.v1.Referee/Play")
	if err != nil {
		return false, err
	}
	join := &referee.Join{Token: token, Protocol: protocol}
	send := func(message *referee.AgentMessage) {
		_ = stream.SendMsg(message) // if the stream has ended, the reader gets the reason
	}
	send(&referee.AgentMessage{Message: &referee.AgentMessage_Join{Join: join}})

	reader := &reader{stream: stream, newest: make(chan *Decision, 1)}
	go reader.read()
	for decision := range reader.newest {
		answer := choose(decision)
		if !decision.Withdrawn() {
			send(&referee.AgentMessage{Message: &referee.AgentMessage_Choose{Choose: answer.message(decision)}})
		}
	}
	return reader.match != nil, reader.err
}

// reader reads a stream while the bot thinks, so that the bot can check its deadline and whether its decision was withdrawn.
type reader struct {
	stream grpc.ClientStream
	match  *referee.Welcome
	open   *Decision
	newest chan *Decision // holds the newest decision until the bot takes it; closed at the end of the stream
	err    error          // the reason for the end of the stream; nil after the end of the match
}

func (reader *reader) read() {
	defer close(reader.newest)
	for {
		message := &referee.RefereeMessage{}
		if err := reader.stream.RecvMsg(message); err != nil {
			reader.err = err
			reader.drop()
			return
		}
		switch said := message.Message.(type) {
		case *referee.RefereeMessage_Welcome:
			reader.match = said.Welcome
		case *referee.RefereeMessage_Decide:
			reader.ask(&Decision{Match: reader.match, Message: said.Decide}, said.Decide.Clock)
		case *referee.RefereeMessage_Rejected:
			rejected := said.Rejected
			report(rejected)
			open := reader.isOpen(rejected.Decision) && rejected.Reason != referee.Rejected_REASON_STALE
			if open && !reader.open.Withdrawn() {
				clock := &referee.Clock{BudgetMs: rejected.LeftMs}
				reader.ask(&Decision{Match: reader.match, Message: reader.open.Message, Rejection: rejected}, clock)
			}
		case *referee.RefereeMessage_NewDeadline:
			if reader.isOpen(said.NewDeadline.Decision) {
				reader.open.setClock(said.NewDeadline.Clock)
			}
		case *referee.RefereeMessage_Withdrawn:
			if reader.isOpen(said.Withdrawn.Decision) {
				reader.drop()
			}
		case *referee.RefereeMessage_GameOver:
			reader.drop()
			time.AfterFunc(endWait, func() { os.Exit(0) }) // the bot may still be thinking
			return
		}
	}
}

func (reader *reader) isOpen(number uint64) bool {
	return reader.open != nil && reader.open.Message.Decision == number
}

// drop withdraws the open decision, whether the bot has taken it or not.
func (reader *reader) drop() {
	if reader.open != nil {
		reader.open.withdraw()
	}
	select {
	case <-reader.newest:
	default:
	}
}

func (reader *reader) ask(decision *Decision, clock *referee.Clock) {
	reader.drop()
	decision.setClock(clock)
	reader.open = decision
	reader.newest <- decision
}

// message makes the message of an answer to a decision.
func (answer Answer) message(decision *Decision) *referee.Choose {
	choose := &referee.Choose{Decision: decision.Message.Decision, Choice: &referee.Choose_Index{Index: answer.index}}
	if answer.actions == nil {
		if answer.index >= decision.Message.ActionCount {
			giveUp("choose answered index %d; an index counts from 0 to %d", int32(answer.index), decision.Message.ActionCount-1)
		}
		return choose
	}
	// An ActionList of the game is its actions, each as field 1.
	list := &anypb.Any{TypeUrl: decision.Message.Actions.TypeUrl}
	for _, action := range answer.actions {
		name := string(action.ProtoReflect().Descriptor().FullName())
		if name+"List" != string(decision.Message.Actions.MessageName()) {
			giveUp("choose answered with a %s in a match of %s; it must be an Action of that game", name, decision.Match.Game)
		}
		data, err := proto.Marshal(action)
		if err != nil {
			giveUp("choose answered with an action that cannot be written: %v", err)
		}
		list.Value = protowire.AppendBytes(protowire.AppendTag(list.Value, 1, protowire.BytesType), data)
	}
	choose.Choice = &referee.Choose_Actions{Actions: list}
	return choose
}

// report reports a refused answer to the author of the bot.
func report(rejected *referee.Rejected) {
	rule := ""
	if rejected.Rule != "" {
		rule = " (" + rejected.Rule + ")"
	}
	reason := strings.ToLower(strings.TrimPrefix(rejected.Reason.String(), "REASON_"))
	fmt.Fprintf(os.Stderr, "dogana bot: decision %d refused as %s: %s%s; strike %d\n",
		rejected.Decision, reason, rejected.Message, rule, rejected.Strikes)
}

// isLost returns whether a stream ended because the connection was lost, and not because the referee ended it.
func isLost(err error) bool {
	lost := []codes.Code{codes.Unavailable, codes.Canceled, codes.Unknown, codes.Internal}
	return err != io.EOF && slices.Contains(lost, status.Code(err))
}

// explain explains the end of a stream.
func explain(err error, address string) string {
	if err == io.EOF {
		return "the referee ended the stream before the match was over"
	}
	why := status.Convert(err)
	if isLost(err) {
		return fmt.Sprintf("no referee answers at %s (%s); is it running, and the address right?", address, why.Message())
	}
	hint := ""
	switch why.Code() {
	case codes.FailedPrecondition:
		hint = "; make a new kit with a newer dogana"
	case codes.Unimplemented:
		hint = "; is it a referee that listens at " + address + "?"
	}
	return fmt.Sprintf("the referee refused (%s): %s%s", code.Code(why.Code()), why.Message(), hint)
}

func giveUp(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "dogana bot: "+format+"\n", values...)
	os.Exit(1)
}
