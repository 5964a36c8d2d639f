// A Dogana agent in Go that uses nothing but the generated messages. It plays every game at random, and Cargo Noir a
// little better: it buys the most valuable card that it can.
//
//	sh agents/go/build.sh
//	dogana play cargo_noir cmd:agents/go/bin/agent random
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	cargonoir "dogana/agent/gen/dogana/games/cargo_noir/v1"
	dogana "dogana/agent/gen/dogana/v1"
)

const protocol = 1

func main() {
	if err := play(os.Getenv("DOGANA_ADDRESS"), os.Getenv("DOGANA_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, "dogana agent:", err)
		os.Exit(1)
	}
}

// play joins a match and plays it to the end.
func play(address, token string) error {
	if address == "" || token == "" {
		return fmt.Errorf("start me with: dogana play GAME cmd:agents/go/bin/agent random")
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	stream, err := dogana.NewRefereeClient(connection).Play(context.Background())
	if err != nil {
		return err
	}
	join := &dogana.Join{Token: token, Protocol: protocol}
	if err := stream.Send(&dogana.AgentMessage{Message: &dogana.AgentMessage_Join{Join: join}}); err != nil {
		return err
	}
	answer := func(decision uint64, index uint32) error {
		choose := &dogana.Choose{Decision: decision, Choice: &dogana.Choose_Index{Index: index}}
		return stream.Send(&dogana.AgentMessage{Message: &dogana.AgentMessage_Choose{Choose: choose}})
	}
	var asked *dogana.Decide
	for {
		message, err := stream.Recv()
		if err != nil {
			return err
		}
		switch said := message.Message.(type) {
		case *dogana.RefereeMessage_Decide:
			asked = said.Decide
			if err := answer(asked.Decision, choice(asked)); err != nil {
				return err
			}
		case *dogana.RefereeMessage_NewDeadline:
			// It answers at once, so no deadline is too early. An agent that thinks would cut its thinking short here.
		case *dogana.RefereeMessage_Rejected:
			fmt.Fprintln(os.Stderr, "refused:", said.Rejected.Message)
			// A decision that was refused stays open, unless the refusal says that it is not.
			if said.Rejected.Reason != dogana.Rejected_REASON_STALE && asked != nil && asked.Decision == said.Rejected.Decision {
				if err := answer(asked.Decision, rand.Uint32N(asked.ActionCount)); err != nil {
					return err
				}
			}
		case *dogana.RefereeMessage_GameOver:
			fmt.Println("over:", said.GameOver.Digest)
			return nil
		}
	}
}

// choice returns the index of the most valuable card that can be bought, or of any action if none can.
func choice(decide *dogana.Decide) uint32 {
	var legal cargonoir.ActionList
	best, found := uint32(0), cargonoir.Card_CARD_UNSPECIFIED
	if decide.Actions.UnmarshalTo(&legal) == nil {
		for index, action := range legal.Actions {
			if buy := action.GetBuy(); buy != nil && buy.Card > found {
				best, found = uint32(index), buy.Card
			}
		}
	}
	if found != cargonoir.Card_CARD_UNSPECIFIED {
		return best
	}
	return rand.Uint32N(decide.ActionCount)
}
