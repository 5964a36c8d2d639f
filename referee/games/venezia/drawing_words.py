"""The text of a picture of Venezia: the open decision, other facts, and the last action."""

from __future__ import annotations

from referee.game import Action, Scene, Seat
from referee.games.venezia import actions as act
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.breakdown import breakdown
from referee.games.venezia.names import DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step
from referee.games.venezia.observation import VeneziaObservation
from referee.kit.scene import Strip, gains, seats_in_words, sentences, strip_in_words
from referee.kit.svg import printable

CARD_NAMES = {
    ActionCard.NONE: "no card",
    ActionCard.FAM: "Family",
    ActionCard.FEH: "Feud",
    ActionCard.UEB: "Takeover",
    ActionCard.GIF: "Poison",
    ActionCard.RAU: "Bird of prey",
    ActionCard.MIC: "San Michele",
    ActionCard.SAU: "Purge",
    ActionCard.WEI: "Vatican",
}


def described(board: VeneziaBoard, seen: VeneziaObservation, news: Strip | None) -> str:
    """Describe the picture in words, for screen readers."""
    said = [] if news is None else strip_in_words(news)
    said += [who(seen), doing(board, seen), *notes(board, seen)]
    for seat, has in enumerate(seen.seats):
        home = "no home" if has.home is None else f"home {place_name(board, has.home)}"
        said.append(
            f"Seat {seat}: {has.score} points, {next_score(board, seen, seat)} more were the round scored now, {home}, {has.reserve} pigeons in reserve, {has.nest} in the nest, "
            f"{has.supply} in supply, {has.cemetery} in the cemetery, {on_piazza(seen, seat)} on the Piazza"
        )
    for place, view in zip(Place, seen.places, strict=True):
        there = [f"{count} of seat {seat}" for seat, count in enumerate(view.pigeons) if count]
        there += [f"{view.grey} grey"] * (view.grey > 0)
        said.append(f"{place_name(board, place)}: {', '.join(there) or 'no pigeons'}")
    for words, squares in (("Tourists", seen.tourists), ("Hunters", seen.hunters)):
        said += [f"{words} on {', '.join(square.name for square in squares)}"] * bool(squares)
    said += [] if seen.raptor is None else [f"The bird of prey is in {place_name(board, seen.raptor)}"]
    return ". ".join(said) + "."


def who(seen: VeneziaObservation) -> str:
    """Name the seats to act, or the winner."""
    if seen.phase is Phase.OVER:
        winners = [seat for seat, has in enumerate(seen.seats) if has.rank == 1]
        return f"{seats_in_words(winners)} {'wins' if len(winners) == 1 else 'share the victory'}"
    if seen.seat is not None:
        return f"Seat {seen.seat} is to act"
    thinking = [seat for seat, has in enumerate(seen.seats) if not has.committed]
    return f"{seats_in_words(thinking)} {'is' if len(thinking) == 1 else 'are'} to act"


def doing(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Describe the open decision."""
    has, place = seen.seats[seen.seat or 0], seen.card_place
    where = "" if place is None else place_name(board, place)
    last = Square(seen.chain[-1]).name if seen.chain else ""
    return {
        Phase.HOME: "Choosing a home",
        Phase.PLAN: "Planning in secret",
        Phase.FEINT: f"Moving from the Feint onto district card {seen.slot}: {has.first_count} left",
        Phase.PLACE: f"Placing pigeons on the Piazza: {has.first_count} left",
        Phase.MOVE: f"Moving on the Piazza: {len(seen.unmoved)} can still move",
        Phase.CHAIN: f"Going on jumping from {last}, or stopping there",
        Phase.FAMILY: "Family meeting: choosing where all nests go",
        Phase.REINFORCE: f"Reinforcing the home: {has.nest} in the nest",
        Phase.FEHDE: f"Feud: removing a pigeon in {where}, or none",
        Phase.TAKEOVER: "Takeover: choosing a district",
        Phase.FROM_RESERVE: f"Takeover of {where}: how many of {seen.card_count} pigeons come from the reserve",
        Phase.POISON: f"Poison on the Piazza: {seen.card_count} of {board.poisoned} pigeons removed",
        Phase.RAPTOR: "Sending the bird of prey to a place",
        Phase.PURGE: "Purge: choosing a district and a colour",
        Phase.GREY: f"Vatican: {seen.card_count} of {board.grey_operations} grey pigeons added or moved",
        Phase.RECOVER: "Taking an executed card back",
        Phase.MICHELE: "Taking pigeons back from the cemetery",
        Phase.OVER: "The match is over",
    }[seen.phase]


def notes(board: VeneziaBoard, seen: VeneziaObservation) -> list[str]:
    """Describe other facts about the current situation."""
    notes = []
    if seen.phase is Phase.PLAN:
        made = [seat for seat, has in enumerate(seen.seats) if has.committed]
        notes.append(f"{seats_in_words(made)}: plan is made" if made else "No plan is made yet")
    if seen.plan is not None and seen.phase is Phase.PLAN and seen.plan.step is not Step.COMMITTED:
        left = seen.seats[seen.viewer or 0].reserve - sum(seen.plan.counts)
        step = {
            Step.FIRST: "choosing the first card",
            Step.ACTION: "choosing an action card, or none",
            Step.DISTRICTS: "choosing district cards",
        }.get(seen.plan.step, "laying pigeons on the cards")
        notes.append(f"Your plan: {step}; still in reserve: {left}")
    if seen.waiting:
        notes.append(f"Action cards still to be executed, in this order: seat {', '.join(map(str, seen.waiting))}")
    untouched = [
        f"{count} in {place_name(board, place)}"
        for place, count in zip(Place, seen.grey_untouched, strict=False)  # empty except in the phase GREY
        if count
    ]
    if untouched:
        notes.append(f"Grey pigeons not yet touched: {', '.join(untouched)}")
    if seen.grey_owner is not None:
        notes.append(f"Grey pigeons count for seat {seen.grey_owner} in this round")
    if seen.phase is Phase.OVER and max(majorities_of(seen)) >= board.win_districts:
        notes.append(f"Won by majorities in {max(majorities_of(seen))} districts, whatever the points")
    return notes


def majorities_of(seen: VeneziaObservation) -> list[int]:
    """Return, for each seat, the number of districts in which it had the majority in the last scoring."""
    return [sum(won.seat == seat for won in seen.majorities) for seat in range(len(seen.seats))]


def place_name(board: VeneziaBoard, place: Place) -> str:
    """Return the name of a place."""
    return printable(board.place_names[place])


def on_piazza(seen: VeneziaObservation, seat: Seat) -> int:
    """Return the number of a seat's pigeons on the Piazza."""
    return sum(bird.seat == seat for bird in seen.piazza)


def worth(board: VeneziaBoard, seen: VeneziaObservation, place: Place, seat: Seat) -> int:
    """Return the points that the majority in a place gives a seat in the next scoring; 0 for an unscored place (Z10.2)."""
    if place not in DISTRICTS or seen.raptor is place:
        return 0
    enemy = any(has.home is place for other, has in enumerate(seen.seats) if other != seat)
    return board.enemy_home_points if enemy else board.majority_points


def leader(seen: VeneziaObservation, place: Place) -> Seat | None:
    """Return the seat with the majority in a place as things stand; None if there is none (Z0.3, Z8.5, Z8.8)."""
    pigeons = list(seen.places[place].pigeons)
    if seen.grey_owner is not None:
        pigeons[seen.grey_owner] += seen.places[place].grey
    most = max(pigeons)
    alone = most > 0 and pigeons.count(most) == 1 and seen.raptor is not place
    return pigeons.index(most) if alone else None


def next_score(board: VeneziaBoard, seen: VeneziaObservation, seat: Seat) -> int:
    """Return the points that a seat would get if the round were scored now."""
    return sum(worth(board, seen, place, seat) for place in DISTRICTS if leader(seen, place) == seat)


# --- what has just happened -------------------------------------------------------------------------


def tell(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene) -> list[str]:
    """Describe the last action in words."""
    return sentences(happened(board, seen, scene))


def happened(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene) -> Strip:
    """Return the contents of the strip that shows the last action."""
    before = scene.before
    if scene.seat is None or not isinstance(before, VeneziaObservation):
        return Strip(scene.step, scene.steps, scene.bots, None, "The match begins", ())
    what = "completes its plan" if scene.action is None else _done(board, before, seen, scene.action)
    gained = gains(breakdown(board, before), breakdown(board, seen))
    if gained:  # points come from the scoring of a round only (Z10.1)
        what += f"; round {before.round} is scored"
    if seen.round > before.round:
        what += f"; round {seen.round} begins"
    elif before.phase is Phase.PLAN and seen.phase is not Phase.PLAN:
        what += "; all plans are made"
    return Strip(scene.step, scene.steps, scene.bots, scene.seat, what, gained)


def _done(board: VeneziaBoard, before: VeneziaObservation, seen: VeneziaObservation, action: Action) -> str:
    """Describe an action, as in `walks from D5 to D6`."""
    here = "there" if before.card_place is None else f"in {place_name(board, before.card_place)}"
    match action:
        case act.Home(place):
            return f"makes {place_name(board, place)} its home"
        case act.First(card):
            return f"plans: first {FirstCard(card).name.title()}"
        case act.Card(card):
            return f"plans: {CARD_NAMES[card]}"
        case act.District(place):
            return f"plans: {place_name(board, place)}"
        case act.Count(pigeons):
            return f"plans: {_pigeons(pigeons)} on the card"
        case act.Feint(pigeons):
            return f"moves {_pigeons(pigeons)} from the Feint onto district card {before.slot}"
        case act.PlacePigeon(square):
            return f"places a pigeon on {_square(square)}"
        case act.Walk(start, end):
            return f"walks from {_square(start)} to {_square(end)}{_lost(before, seen)}"
        case act.Jump(start, end):
            return f"jumps from {_square(start)} to {_square(end)}{_lost(before, seen)}"
        case act.Stop():
            return f"ends the chain of jumps{_lost(before, seen)}"
        case act.Done():
            return {Phase.PLAN: "plans no more cards", Phase.PLACE: "places no more pigeons"}.get(
                before.phase, "poisons no more" if before.phase is Phase.POISON else "moves no more"
            ) + _lost(before, seen)
        case act.Family(district):
            return f"holds the family meeting in {place_name(board, district)}"
        case act.Reinforce(pigeons):
            return f"reinforces its home with {_pigeons(pigeons)}"
        case act.Fehde(victim):
            return f"removes a pigeon of seat {victim} {here}"
        case act.Skip():
            return f"removes no pigeon {here}"
        case act.Takeover(district):
            return f"takes over {place_name(board, district)}"
        case act.FromReserve(pigeons):
            return f"replaces with {_pigeons(pigeons)} from the reserve {here}"
        case act.Poison(square):
            return f"poisons the pigeon on {_square(square)}"
        case act.Raptor(place):
            return f"sends the bird of prey to {place_name(board, place)}"
        case act.Purge(district, victim):
            return f"purges {place_name(board, district)} of seat {victim}"
        case act.GreyAdd(district):
            return f"adds a grey pigeon in {place_name(board, district)}"
        case act.GreyMove(start, end):
            return f"moves a grey pigeon from {place_name(board, start)} to {place_name(board, end)}"
        case act.Recover(card):
            return "takes no card back" if card == ActionCard.NONE else f"takes {CARD_NAMES[card]} back into the hand"
        case act.Michele(pigeons):
            return f"takes {_pigeons(pigeons)} back from the cemetery"
    return "acts"


def _pigeons(count: int) -> str:
    return f"{count} pigeon" if count == 1 else f"{count} pigeons"


def _square(square: Square) -> str:
    return Square(square).name.upper()


def _lost(before: VeneziaObservation, seen: VeneziaObservation) -> str:
    """Describe each seat's newborn pigeons, and its pigeons that have gone to the cemetery."""
    said = []
    for seat, (has, had) in enumerate(zip(seen.seats, before.seats, strict=True)):
        if born := has.nest - had.nest:
            said.append(f"seat {seat}: {born} born" if born > 0 else "")
        if gone := has.cemetery - had.cemetery:
            said.append(f"seat {seat}: {gone} to the cemetery" if gone > 0 else "")
    return "".join(f"; {line}" for line in said if line)
