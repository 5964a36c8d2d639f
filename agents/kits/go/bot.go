// A bot that plays every game. Change choose, or the points that it compares.
package main

//go:generate go run ./generate

import (
	"math/rand/v2"
	"slices"

	"bot/dogana"
	"bot/messages/cargo_noir"
	"bot/messages/valparaiso"
	"bot/messages/venezia"
	"bot/messages/yunnan"
)

func main() {
	dogana.Play(choose)
}

// choose returns the action with the most points. Chance decides between equals, and in games without points.
func choose(decision *dogana.Decision) dogana.Answer {
	if decision.Rejection == nil {
		switch seat := decision.Match.Seat; decision.Match.Game {
		case "cargo_noir":
			seen, legal := &cargo_noir.Observation{}, &cargo_noir.ActionList{}
			decision.Read(seen, legal)
			return best(legal.Actions, func(action *cargo_noir.Action) float64 { return cargoNoir(seen, seat, action) })
		case "valparaiso":
			seen, legal := &valparaiso.Observation{}, &valparaiso.ActionList{}
			decision.Read(seen, legal)
			return best(legal.Actions, func(action *valparaiso.Action) float64 { return valparaisoPoints(seen, seat, action) })
		case "venezia":
			seen, legal := &venezia.Observation{}, &venezia.ActionList{}
			decision.Read(seen, legal)
			return best(legal.Actions, func(action *venezia.Action) float64 { return veneziaPoints(seen, seat, action) })
		case "yunnan":
			seen, legal := &yunnan.Observation{}, &yunnan.ActionList{}
			decision.Read(seen, legal)
			return best(legal.Actions, func(action *yunnan.Action) float64 { return yunnanPoints(seen, seat, action) })
		}
	}
	return dogana.Index(rand.IntN(int(decision.Message.ActionCount))) // an unknown game, or an answer that was refused
}

// best answers with the action that has the most points.
func best[Action any](actions []Action, points func(Action) float64) dogana.Answer {
	chosen, most := 0, -1e9
	for index, action := range actions {
		if found := points(action) + rand.Float64(); found > most {
			chosen, most = index, found
		}
	}
	return dogana.Index(chosen)
}

// The points for an action, by its kind and by the observation; more is better. The rules of each game are in its RULES.md;
// proto/dogana/games/ describes each field of an action or an observation.

// cargoNoir collects goods, hands in large sets of one kind, buys the dearest cards, and sends ships where many goods are.
func cargoNoir(seen *cargo_noir.Observation, seat uint32, action *cargo_noir.Action) float64 {
	me, last := seen.Seats[seat], seen.Turn == seen.LastTurn
	switch kind := action.Kind.(type) {
	case *cargo_noir.Action_Collect:
		return 100
	case *cargo_noir.Action_Casino:
		return 90
	case *cargo_noir.Action_BmSwap: // take what there is most of, give what there is least of
		return 10 * (float64(me.Goods[kind.BmSwap.Take-1]) - float64(me.Goods[kind.BmSwap.Give-1]))
	case *cargo_noir.Action_BmDraw:
		return 15
	case *cargo_noir.Action_Raise:
		if me.Safe >= 4 && !last {
			return 50
		}
		return 20
	case *cargo_noir.Action_Withdraw:
		return 30
	case *cargo_noir.Action_Stake: // one coin more than needed
		return -abs(float64(kind.Stake.Coins) - float64(seen.PendingStake.Min) - 1)
	case *cargo_noir.Action_SellSame:
		size := kind.SellSame.N + kind.SellSame.Wilds
		if size >= 4 || last {
			return 100 + float64(size)
		}
	case *cargo_noir.Action_DiffStart, *cargo_noir.Action_DiffAdd, *cargo_noir.Action_DiffClose:
		return -10 + 70*oneIf(last)
	case *cargo_noir.Action_Buy:
		return 80 + float64(kind.Buy.Card)
	case *cargo_noir.Action_EndSmuggling:
		return 10
	case *cargo_noir.Action_Discard:
		return -float64(me.Goods[kind.Discard.Kind-1])
	case *cargo_noir.Action_Send:
		for _, port := range seen.Ports {
			if int32(port.Port) == int32(kind.Send.Dest)-2 {
				points := 3*float64(sum(port.Goods)) - 2*float64(sum(port.Stacks))
				if me.Safe <= 2 {
					return points - 20
				}
				return points + 5
			}
		}
		if kind.Send.Dest == cargo_noir.Destination_DESTINATION_CASINO && me.Safe < 5 {
			return 15
		}
		return 2
	}
	return 0
}

// valparaisoPoints loads three goods of a kind, sails, and trades them overseas for an achievement; it builds when there is money.
func valparaisoPoints(seen *valparaiso.Observation, seat uint32, action *valparaiso.Action) float64 {
	me := seen.Seats[seat]
	isLoaded, isHome := slices.Max(me.Hold) >= 3, me.Ship == valparaiso.Sector_SECTOR_H
	most := uint32(0) // goods of a kind
	for good, loaded := range me.Hold {
		most = max(most, loaded+me.Warehouse[good])
	}
	// Cards whose main action helps now; the others are used for a good or for money.
	useful := func(card valparaiso.Card, other float64) float64 {
		switch {
		case card == valparaiso.Card_CARD_K8:
			return 100
		case card == valparaiso.Card_CARD_K5:
			return 90
		case card == valparaiso.Card_CARD_K1 && most >= 3 && !isLoaded:
			return 80
		case card == valparaiso.Card_CARD_K7 && (isLoaded || !isHome):
			return 70
		case card == valparaiso.Card_CARD_K1, card == valparaiso.Card_CARD_K7:
			return 0
		}
		return other
	}
	switch kind := action.Kind.(type) {
	case *valparaiso.Action_Goods:
		return 10 * (oneIf(kind.Goods.First == kind.Goods.Second) + oneIf(kind.Goods.Second == kind.Goods.Third))
	case *valparaiso.Action_Place:
		return 50 + useful(kind.Place.Card, 20)/10
	case *valparaiso.Action_Commit:
		return 20
	case *valparaiso.Action_Use:
		points, card := 30.0, me.Plan[kind.Use.Slot-1]
		if kind.Use.Mode == valparaiso.Mode_MODE_MAIN {
			points = useful(card, 60*oneIf(card > valparaiso.Card_CARD_K8)) // achievement cards
		}
		return points - float64(kind.Use.Slot)
	case *valparaiso.Action_Transfer:
		points := 0.0
		for _, count := range []uint32{kind.Transfer.Silver, kind.Transfer.Copper, kind.Transfer.Wheat} {
			points += float64(count) + 10*oneIf(count >= 3)
		}
		return points
	case *valparaiso.Action_Sail:
		if kind.Sail.Sector == valparaiso.Sector_SECTOR_H {
			return 5
		}
		return 10 * oneIf(me.Hold[kind.Sail.Sector-valparaiso.Sector_SECTOR_OW] >= 3) // west wants silver, north copper, east wheat
	case *valparaiso.Action_Build, *valparaiso.Action_BuildForGood:
		return 40
	case *valparaiso.Action_Give, *valparaiso.Action_GiveTwo, *valparaiso.Action_Pay, *valparaiso.Action_Scrap,
		*valparaiso.Action_Trade, *valparaiso.Action_Take, *valparaiso.Action_Buy, *valparaiso.Action_Hire:
		return 30
	case *valparaiso.Action_Sell:
		return -10
	}
	return 0
}

// veneziaPoints lays pigeons in three districts, the rivals' homes first; a few breed beside the tourists on the Piazza.
func veneziaPoints(seen *venezia.Observation, seat uint32, action *venezia.Action) float64 {
	switch kind := action.Kind.(type) {
	case *venezia.Action_First:
		return 10 * oneIf(kind.First.Card == venezia.FirstCard_FIRST_CARD_PIAZZA)
	case *venezia.Action_Card:
		return 5 * oneIf(kind.Card.Card != venezia.ActionCard_ACTION_CARD_NONE)
	case *venezia.Action_District:
		place := kind.District.Place
		isHome := slices.ContainsFunc(seen.Seats, func(has *venezia.SeatView) bool { return has.GetHome() == place })
		return 20 - abs(lead(seen, seat, place)) + 5*oneIf(isHome && seen.Seats[seat].GetHome() != place)
	case *venezia.Action_Count: // an equal share for each card that is still to come
		cards := 1 + len(seen.Plan.Chosen) - len(seen.Plan.Counts)
		return -abs(float64(kind.Count.Pigeons) - float64(seen.Seats[seat].Reserve)/float64(max(cards, 1)))
	case *venezia.Action_Feint:
		return float64(kind.Feint.Pigeons)
	case *venezia.Action_Reinforce:
		return float64(kind.Reinforce.Pigeons)
	case *venezia.Action_Michele:
		return float64(kind.Michele.Pigeons)
	case *venezia.Action_FromReserve:
		return float64(kind.FromReserve.Pigeons)
	case *venezia.Action_PlacePigeon:
		return 10
	case *venezia.Action_Walk:
		return 10 * (bears(seen, kind.Walk.End) - bears(seen, kind.Walk.Start))
	case *venezia.Action_Jump:
		return 10 * (bears(seen, kind.Jump.End) - bears(seen, kind.Jump.Start))
	case *venezia.Action_Done, *venezia.Action_Stop:
		return 1
	case *venezia.Action_Fehde, *venezia.Action_Recover:
		return 5
	case *venezia.Action_Takeover:
		return -lead(seen, seat, kind.Takeover.District)
	case *venezia.Action_Purge:
		if kind.Purge.Seat == seat {
			return -10
		}
		return -lead(seen, seat, kind.Purge.District)
	case *venezia.Action_Poison:
		isMine := func(pigeon *venezia.PigeonView) bool {
			return pigeon.Square == kind.Poison.Square && pigeon.Seat == seat
		}
		return 5 - 10*oneIf(slices.ContainsFunc(seen.Piazza, isMine))
	case *venezia.Action_Raptor:
		return -lead(seen, seat, kind.Raptor.Place)
	}
	return 0
}

// lead returns a seat's lead in a place of Venezia, in pigeons; negative if a rival leads.
func lead(seen *venezia.Observation, seat uint32, place venezia.Place) float64 {
	mine, most := 0.0, 0.0
	for other, pigeons := range seen.Places[place-1].Pigeons {
		if uint32(other) == seat {
			mine = float64(pigeons)
		} else {
			most = max(most, float64(pigeons))
		}
	}
	return mine - most
}

// bears returns the worth of a square of the Piazza for breeding: 5 on a tourist, 2 beside one, and less with the distance.
func bears(seen *venezia.Observation, square venezia.Square) float64 {
	most := 0.0
	for _, tourist := range seen.Tourists {
		rows, columns := float64((square-1)/10-(tourist-1)/10), float64((square-1)%10-(tourist-1)%10)
		switch steps := max(abs(rows), abs(columns)); steps {
		case 0:
			most = max(most, 5)
		case 1:
			most = max(most, 2)
		default:
			most = max(most, 1/steps)
		}
	}
	return most
}

// yunnanPoints moves Merchants far out, where they earn most, bids low for progress, and turns all income into points.
func yunnanPoints(seen *yunnan.Observation, seat uint32, action *yunnan.Action) float64 {
	switch kind := action.Kind.(type) {
	case *yunnan.Action_Convert:
		return float64(kind.Convert.Points)
	case *yunnan.Action_Move:
		return 10 * float64(kind.Move.End-kind.Move.Start)
	case *yunnan.Action_Bid:
		return 10 - float64(kind.Bid.Value)/3
	case *yunnan.Action_Take:
		return 10
	case *yunnan.Action_BuildPost:
		return 50 + float64(kind.BuildPost.Province)
	case *yunnan.Action_BuildTeahouse, *yunnan.Action_BuildBridge:
		return 60
	case *yunnan.Action_Displace, *yunnan.Action_Done:
		return 5
	case *yunnan.Action_Market:
		return 4
	case *yunnan.Action_Pass:
		return 1
	}
	return 0
}

func sum(numbers []uint32) (total uint32) {
	for _, number := range numbers {
		total += number
	}
	return total
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

func abs(number float64) float64 {
	return max(number, -number)
}
