// A bot that plays every game. Change choose, and what it looks at below.
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

// choose chooses the action with the most points. Chance decides between equals, and in games without points.
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

// Points for an action, higher is better: what it is, and what the observation says about it. The rules of each game are in its
// RULES.md; what an action or an observation can say is in proto/dogana/games/.

// cargoNoir collects goods, hands in large sets of one kind, buys the dearest cards, and sends ships where many goods are.
func cargoNoir(seen *cargo_noir.Observation, seat uint32, action *cargo_noir.Action) float64 {
	me, last := seen.Seats[seat], seen.Turn == seen.LastTurn
	switch kind := action.Kind.(type) {
	case *cargo_noir.Action_Collect:
		return 100
	case *cargo_noir.Action_Casino:
		return 90
	case *cargo_noir.Action_BmSwap: // give of what there is least, take of what there is most
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
	case *cargo_noir.Action_Stake: // one more coin than is needed
		return -abs(float64(kind.Stake.Coins) - float64(seen.PendingStake.Min) - 1)
	case *cargo_noir.Action_SellSame:
		size := kind.SellSame.N + kind.SellSame.Wilds
		if size >= 4 || last {
			return 100 + float64(size)
		}
	case *cargo_noir.Action_DiffStart, *cargo_noir.Action_DiffAdd:
		if last {
			return 60
		}
		return -10
	case *cargo_noir.Action_DiffClose:
		if last {
			return 50 + float64(kind.DiffClose.Wilds)
		}
		return -10
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

// valparaisoPoints plans as many cards as possible, builds, fills the hold for points, and sails to what the hold can pay.
func valparaisoPoints(seen *valparaiso.Observation, seat uint32, action *valparaiso.Action) float64 {
	me := seen.Seats[seat]
	goods := sum(me.Warehouse) + sum(me.Hold)
	switch kind := action.Kind.(type) {
	case *valparaiso.Action_Place:
		return 10 + worth(me, goods, kind.Place.Card)
	case *valparaiso.Action_UseMayor:
		return 1
	case *valparaiso.Action_Use: // the alternative of a card is always a small gain
		points := 0.0
		switch kind.Use.Mode {
		case valparaiso.Mode_MODE_MAIN:
			points = worth(me, goods, me.Plan[kind.Use.Slot-1])
		case valparaiso.Mode_MODE_ALT:
			points = 15
		}
		return points - 2*float64(kind.Use.Slot)
	case *valparaiso.Action_Transfer: // a full hold is a point, and many of a kind are soon worth a card
		hold := []uint32{kind.Transfer.Silver, kind.Transfer.Copper, kind.Transfer.Wheat}
		return 10*float64(sum(hold)) + float64(slices.Max(hold))
	case *valparaiso.Action_Sail:
		if kind.Sail.Sector == goal(me) {
			return 10
		}
	case *valparaiso.Action_Build:
		if kind.Build.Location == valparaiso.Location_LOCATION_V {
			return 50
		}
		return 40
	case *valparaiso.Action_Acquire, *valparaiso.Action_BuildForGood, *valparaiso.Action_Give, *valparaiso.Action_GiveTwo:
		return 30
	case *valparaiso.Action_Pay:
		return 10 * float64(kind.Pay.Times)
	case *valparaiso.Action_Trade:
		return 10 + float64(kind.Trade.Times)
	case *valparaiso.Action_Stop, *valparaiso.Action_Done, *valparaiso.Action_Pass:
		return 5
	case *valparaiso.Action_Mayor, *valparaiso.Action_Sell:
		return -10
	}
	return 0
}

// worth tells what the main action of a card is worth in Valparaíso.
func worth(me *valparaiso.SeatView, goods uint32, card valparaiso.Card) float64 {
	switch card {
	case valparaiso.Card_CARD_K8: // an achievement card
		if me.Ship == goal(me) && me.Ship != valparaiso.Sector_SECTOR_H {
			return 60
		}
	case valparaiso.Card_CARD_K7: // the ship
		if me.Ship != goal(me) && goods >= 6 {
			return 55
		}
	case valparaiso.Card_CARD_K5: // a house
		if me.Money >= 10 && me.HousesLeft > 0 {
			return 50
		}
	case valparaiso.Card_CARD_K1: // a full hold
		if me.Ship == valparaiso.Sector_SECTOR_H && sum(me.Hold) < 6 && goods >= 6 {
			return 57
		}
	case valparaiso.Card_CARD_K6:
		return 20
	case valparaiso.Card_CARD_K2:
		return 10
	case valparaiso.Card_CARD_K3, valparaiso.Card_CARD_K4:
		return 5
	default: // achievement cards
		return 45
	}
	return 0
}

// goal tells where a ship should be in Valparaíso: where three goods of its hold pay for a card, else in the harbour to load.
func goal(me *valparaiso.SeatView) valparaiso.Sector {
	for good, count := range me.Hold { // west wants silver, north copper, east wheat
		if count >= 3 {
			return valparaiso.Sector_SECTOR_OW + valparaiso.Sector(good)
		}
	}
	return valparaiso.Sector_SECTOR_H
}

// veneziaPoints sends pigeons where a majority is within reach.
func veneziaPoints(seen *venezia.Observation, seat uint32, action *venezia.Action) float64 {
	switch kind := action.Kind.(type) {
	case *venezia.Action_First:
		if kind.First.Card == venezia.FirstCard_FIRST_CARD_FEINT {
			return 5
		}
	case *venezia.Action_Card:
		if kind.Card.Card == venezia.ActionCard_ACTION_CARD_NONE {
			return -5
		}
	case *venezia.Action_District:
		return 20 - abs(lead(seen, seat, kind.District.Place)+1)
	case *venezia.Action_Count:
		cards := uint32(len(seen.Plan.Chosen) + 1 - len(seen.Plan.Counts)) // that have no pigeons yet, this one included
		if len(seen.Plan.Counts) == 0 {
			return -float64(kind.Count.Pigeons) // the first card
		}
		share := (seen.Seats[seat].Reserve - sum(seen.Plan.Counts)) / cards
		return -abs(float64(kind.Count.Pigeons) - float64(share))
	case *venezia.Action_Fehde, *venezia.Action_Michele:
		return 10
	case *venezia.Action_Takeover:
		return -lead(seen, seat, kind.Takeover.District)
	case *venezia.Action_Raptor:
		return -lead(seen, seat, kind.Raptor.Place)
	case *venezia.Action_Purge:
		if kind.Purge.Seat == seat {
			return -100
		}
		return -lead(seen, seat, kind.Purge.District)
	case *venezia.Action_Reinforce:
		return float64(kind.Reinforce.Pigeons)
	}
	return 0
}

// lead tells by how many pigeons a seat is ahead of all others in a place of Venezia.
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

// yunnanPoints moves Merchants far out, where they earn most, bids low for progress, and makes points of all income.
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

func abs(number float64) float64 {
	return max(number, -number)
}
