#!/bin/sh
# `make demo`: the main job once, in a folder of its own.
set -eu
cd "$(dirname "$0")/.."
rm -rf demo && mkdir demo && cd demo

say() { printf '\n\033[1m$ %s\033[0m\n' "$*" >&2; "$@"; }

cat > mybot.py <<'BOT'
import random

from dogana.sdk import Decision, play


def choose(decision: Decision) -> int:
    return random.randrange(decision.action_count)


play(choose)
BOT

echo "Bots in processes of their own play a match; the last seat is a house bot in the referee's process."
say dogana play cargo_noir "cmd:python mybot.py" "cmd:python -m house_bots greedy" random --seed 7 --record match.jsonl
say dogana verify match.jsonl
say dogana replay match.jsonl --svg pictures > replay.txt
echo "replay.txt has every step in words, pictures/ a drawing of each."

echo
echo "A small ladder of all games: mybot and the house bots, in blocks of one seed and all rotations of the seats."
say dogana ladder submit mybot.py --name mybot --author me --home ladder
walls=
dogana doctor > doctor.txt || {
	echo "This machine cannot isolate bots ('dogana doctor' says why); mybot is ours, so it may run unconfined."
	walls=--unconfined
}
say dogana ladder run --game cargo_noir --game valparaiso --game venezia --game yunnan --matches 32 --home ladder $walls
say dogana ladder top --home ladder
say dogana ladder recompute --home ladder
say dogana ladder site site --home ladder --limit 2
cat <<END

Everything is in $(pwd). Look at the ladder in a browser:

  file://$(pwd)/site/index.html

  - who leads in each game, and how sure that is; the bar beside a bot is what the ladder believes of its skill
  - a bot: its rating block by block, whom it beats, from which seat
  - a match, under "Last results": how it was won, and every step on the board (arrow keys)
  - the rules of each game

The same, live, and with what needs a server, such as comparing two bots: dogana ladder web --home demo/ladder
To submit in the browser and play against the house bots yourself: dogana ladder serve --home demo/ladder --web 127.0.0.1:8780
END
