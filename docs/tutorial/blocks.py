"""Count the blocks of a series on standard input: dogana play GAME A B --games 50 --rotate --json | python blocks.py.

A block is the matches of one seed. In it, the seat of the command line that has the better places is ahead;
if the places are level, the one with more points.
"""

import json
import sys
from itertools import groupby

try:
    matches = [json.loads(line) for line in sys.stdin]
except ValueError:
    sys.exit("blocks.py: these are not matches in JSON; give --json to dogana play")
if not matches:
    sys.exit("blocks.py: there is no match; see what dogana play has printed")

ahead = level = behind = 0
first = None
for _, lines in groupby(matches, key=lambda match: match["seed"]):
    place = points = 0
    for rotation, match in enumerate(lines):
        seats = match["seats"]
        mine = seats[rotation % len(seats)]  # each rotation moves everybody on by a seat
        first = first or mine["bot"]
        for other in seats:
            place += other["rank"] - mine["rank"]
            points += mine["score"] - other["score"]
    ahead += (place, points) > (0, 0)
    level += (place, points) == (0, 0)
    behind += (place, points) < (0, 0)
print(f"{first}: ahead in {ahead} of {ahead + level + behind} blocks, level in {level}, behind in {behind}")
