#!/bin/sh
# `make demo`: the main job once, in a new folder, demo/1, demo/2 ... No run touches what another one has made.
set -eu
cd "$(dirname "$0")/.."
activate=$(pwd)/.venv/bin/activate
mkdir -p demo
number=1
until mkdir "demo/$number" 2>/dev/null; do number=$((number + 1)); done
cd "demo/$number"
here=$(pwd)

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; } # for a shell
run() { # shows a line as it can be pasted, then runs it
	printf '\n%s$ %s%s\n' "$bold" "$1" "$plain"
	eval "$1"
}

cat <<END
What stands behind each \$ can be pasted into another terminal, after this line:

  . $(quoted "$activate") && cd $(quoted "$here")
END

cat > mybot.py <<'BOT'
import random

from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    return random.randrange(decision.action_count)


play(choose)
BOT

echo
echo "Bots in processes of their own play a match; the last seat is a house bot in the referee's process."
run "dogana play cargo_noir mybot.py 'cmd:python -m house_bots greedy' random --seed 7 --record match.jsonl --force"
run "dogana verify match.jsonl"
run "dogana replay match.jsonl --svg pictures --force > replay.txt"
echo "replay.txt has every step in words, pictures/ a drawing of each."

echo
echo "A small ladder of all games: mybot and the house bots, in blocks of one seed and all rotations of the seats."
run "dogana ladder submit mybot.py --name mybot --author me --home ladder"
confinement=
dogana doctor > doctor.txt || {
	echo "This machine cannot isolate bots ('dogana doctor' says why); mybot is ours, so it may run unconfined."
	confinement=" --unconfined"
}
run "dogana ladder run --game cargo_noir --game valparaiso --game venezia --game yunnan --matches 32 --home ladder$confinement"
run "dogana ladder top --home ladder"
run "dogana ladder recompute --home ladder"
run "dogana ladder site site --home ladder --limit 2 --force"

echo
echo "A small tournament: everybody meets everybody, and the table is computed again from the verified records."
run "dogana tournament new cup mybot.py greedy random --game yunnan --blocks 2"
run "dogana tournament run cup"
run "dogana tournament verify cup"
run "dogana tournament page cup public"
url() { printf 'file://%s/%s' "$(printf %s "$here" | sed 's/%/%25/g; s/ /%20/g; s/#/%23/g; s/?/%3F/g')" "$1"; }
cat <<END

Everything is in $here, and stays there: 'make demo' plays in a new folder each time.
Look at the ladder in a browser:

  $(url site/index.html)

  - who leads in each game, and how sure that is; the bar beside a bot is the range in which its strength is
  - a bot: its strength, its live rating block by block, whom it beats, from which seat
  - a match, under "Last results": how it was won, and every step on the board (arrow keys)
  - the rules of each game

And at the tournament: its table, who met whom, and a page of each match:

  $(url public/index.html)

The same ladder, live, and with what needs a server, such as comparing two bots:

  . $(quoted "$activate") && dogana ladder web --home $(quoted "$here/ladder")

To submit in the browser and play against the house bots yourself:

  . $(quoted "$activate") && dogana ladder serve --home $(quoted "$here/ladder")
END
