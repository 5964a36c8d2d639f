#!/bin/sh
# `make container`: build the image of the Containerfile, play a match in it, try the sandbox.
# A machine that cannot gets the reason in one line, and that is no failure. With REQUIRED=1 it is.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
here=$PWD/build/container
store=$PWD/build/container-store

skip() {
	echo "skipped: $1"
	[ -z "${REQUIRED:-}" ]
	exit
}
say() { printf '$ %s\n' "$*" >&2; "$@"; }

command -v podman >/dev/null || skip "the image needs podman (Debian: apt-get install podman runc)"
[ "$(id -u)" = 0 ] || set -- podman # without root: its own store, runtime and limits
if [ $# = 0 ]; then
	command -v runc >/dev/null || skip "podman needs runc, for crun knows no hybrid control groups (Debian: apt-get install runc)"
	mkdir -p "$store"
	printf '[containers]\ndefault_ulimits = []\n' >"$store/containers.conf" # this machine may not let root raise them
	export CONTAINERS_CONF="$store/containers.conf"
	trap 'podman --root "$store/root" --runroot "$store/run" rmi --all --force >/dev/null 2>&1 || true' EXIT
	set -- podman --runtime runc --root "$store/root" --runroot "$store/run"
fi

rm -rf "$here" && mkdir -p "$here"
export DOGANA_PURE=1 # compiled rules would be for the Python and the libraries of this machine
say "$python" -m pip wheel --quiet --wheel-dir "$here" .

base=${BASE:-docker.io/library/debian:bookworm-slim}
if ! timeout 120 "$@" pull --quiet "$base" >/dev/null 2>&1; then
	command -v mmdebstrap >/dev/null || skip "$base cannot be fetched, and making it needs mmdebstrap (Debian: apt-get install mmdebstrap)"
	base=localhost/dogana-base
	say mmdebstrap --quiet --variant=apt --include=bubblewrap,ca-certificates,python3,python3-venv bookworm "$here/base.tar" ||
		skip "Debian's packages cannot be fetched"
	"$@" import --quiet "$here/base.tar" "$base" >/dev/null
	rm "$here/base.tar"
fi

is_same=$("$python" -c 'import sys; print(sys.version_info[:2] == (3, 11))') # then all wheels are there
say "$@" build --quiet --isolation chroot --build-arg BASE="$base" $([ "$is_same" = True ] && echo --build-arg PIP_NO_INDEX=1) \
	--tag localhost/dogana --file Containerfile "$here"

bot='import random; from dogana.sdk import play; play(lambda decision: random.randrange(decision.action_count))'
run() { timeout 300 "$@"; }
inside() { # options of podman, then --, then the words of dogana
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # the options have no spaces
	run $podman run --rm --network none --ulimit host $options localhost/dogana "$@"
}
podman="$*"
say inside -- --version
[ "$(run $podman run --rm --network none --ulimit host --entrypoint id localhost/dogana -u)" != 0 ]
say inside -- play cargo_noir "cmd:python3 -c '$bot'" greedy --seed 7
unmasked="--security-opt seccomp=unconfined --security-opt unmask=/proc/*"
set -f
say inside $unmasked -- doctor
say inside $unmasked -- play cargo_noir "cmd:python3 -c '$bot'" greedy --seed 7 --isolate
if inside -- doctor >"$here/without.txt"; then
	echo "the sandbox holds without $unmasked: mend docs/installing.md" && exit 1
fi
grep -q "NO" "$here/without.txt"
