# `make` alone lists the targets. The first use sets up .venv, and reports a missing python3-venv.

PYTHON ?= python3
# Tests and the demo start hundreds of processes: they read stored bytecode.
export PYTHONDONTWRITEBYTECODE =
BIN = .venv/bin
READY = .venv/ready
INSTALL = $(BIN)/python -m pip install --quiet --constraint constraints.txt

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':[^#]*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

setup: $(READY) ## set up .venv with everything that development needs
$(READY): pyproject.toml constraints.txt proto/generate.py proto/hatch_hook.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Dogana needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv || { echo "cannot make .venv: install python3-venv (Debian: apt-get install python3-venv)"; exit 1; }
	$(INSTALL) --upgrade pip
	DOGANA_PURE=1 $(INSTALL) --editable '.[dev]'
	@touch $@

constraints: $(READY) ## write constraints.txt: the newest versions of everything, which `make` installs (needs the package index)
	$(INSTALL) uv
	$(BIN)/uv --quiet pip compile --upgrade --universal --python-version 3.11 --all-extras --no-annotate \
		--custom-compile-command 'make constraints' --output-file constraints.txt pyproject.toml

proto: $(READY) ## build the messages again after a change in proto/
	$(BIN)/python proto/generate.py

demo: $(READY) ## play and verify a match between processes, then play a small ladder of all games and a tournament; in a new folder each time, demo/1 ...
	PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo.sh

# Tests of one module share its set-up, so each worker begins with a run of neighbouring tests (worksteal). Tests wait as much as
# they compute, so there are more workers than processors.
PYTEST_IN_PARALLEL = $(BIN)/python -m pytest -n 4 --dist worksteal

test: $(READY) proto ## run the tests (four minutes on two cores), at least one for every capability
	$(PYTEST_IN_PARALLEL)

test-all: test ladders ## run the tests, the long ones, and those of `make ladders`, each once (twenty minutes)
	$(PYTEST_IN_PARALLEL) -m long

ladders: $(READY) proto ## test whole ladders, attacks on served ones, people at tables, bots that fail each step of a check, and the promises of pages
	$(BIN)/python -m pytest -n 2 -m 'ladders and not soak' tests/ladder tests/web tests/docs tests/machines

ray: $(READY) proto ## play ladders and series on a Ray cluster whose nodes are killed (installs Ray)
	$(INSTALL) --editable '.[ray]'
	$(BIN)/python -m pytest -q -m ray tests/ladder tests/commands

door: $(READY) proto ## try the HTTP/2 of doors with h2spec (needs Go and its module proxy), and with hostile sessions
	$(BIN)/python -m pytest -q -m door tests/door

compiled-copy: $(READY) proto ## compile the rules in a copy of the sources, build/compiled (needs gcc, Python.h)
	rm -rf build/compiled && mkdir -p build/compiled
	git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C build/compiled
	cp -r dogana build/compiled
	$(BIN)/python proto/compile_rules.py build/compiled

compiled: compiled-copy ## compile the rules in build/compiled, and test them there
	cd build/compiled && DOGANA_COMPILED=1 PYTHONPATH=.:agents ../../$(BIN)/python -m pytest -q -n 2 -m 'not soak' -p no:cacheprovider $(COMPILED_TESTS)

COMPILED_TESTS = referee/games tests/test_contract.py tests/test_compiled.py tests/referee/test_chance.py tests/docs/test_forward_model.py \
	tests/docs/test_search_page.py tests/agents/test_greedy*.py tests/agents/test_search*.py

wheel-test: $(READY) ## install the wheel in a clean environment and play from there (needs the package index)
	$(BIN)/python -m pytest -q tests/wheel.py

release: $(READY) ## build, try and check the files of a release, everything except the upload (see docs/releasing.md; REHEARSE=1 before its date)
	$(INSTALL) --editable '.[release]'
	.ci/release $(if $(REHEARSE),--rehearse)

container: $(READY) proto ## build the image of the Containerfile, play a match in it, try the sandbox (Podman)
	sh tests/machines/container.sh

pages: $(READY) proto ## look at the pages of matches and of a ladder in a browser (Chromium)
	$(INSTALL) --editable '.[pages]'
	for file in tests/pages/browser.py tests/web/browser*.py; do $(BIN)/python -m pytest -q $$file || exit 1; done

languages: $(READY) ## compile all messages in those of C++, Java and Go whose tools are installed
	$(BIN)/python proto/languages.py

kits: $(READY) proto ## build and play the kits of all languages, measure them, write docs/kits.md (needs the registries)
	$(BIN)/python -m pytest -q -m 'kits and not soak' tests/kits
	$(BIN)/python -m bench.kits

docs: $(READY) proto ## build docs/ as a site, with the reference of the API
	$(INSTALL) --editable '.[docs]'
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -b html -d build/doctrees . build/site
	$(BIN)/python -m pytest -q tests/docs/site.py
	@echo "open build/site/docs/index.html"

pictures: $(READY) proto ## make the pictures of the README from a real match (Chromium)
	$(INSTALL) --editable '.[docs,pages]'
	$(BIN)/python docs/pictures.py

soak: $(READY) proto ## test bots in random states and games with hostile positions for SECONDS each (300), kill a ladder KILLS times (300), a tournament (100)
	DOGANA_SOAK_SECONDS=$(or $(SECONDS),300) $(BIN)/python -m pytest -q -s -m soak tests
	DOGANA_SOAK_KILLS=$(or $(KILLS),300) $(BIN)/python -m tests.ladder.soak
	DOGANA_SOAK_KILLS=$(or $(KILLS),100) $(BIN)/python -m tests.ladder.serving_soak
	DOGANA_SOAK_KILLS=$(or $(KILLS),100) $(BIN)/python -m tests.tournament.soak

check: $(READY) proto ## formatting, lint, types, imports, messages, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_house.py
	$(BIN)/python -m pytest -q -m static tests/test_tests.py tests/docs
	$(BIN)/python proto/check.py

fmt: $(READY) ## format the code and write the generated docs
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/python proto/check.py --write

bench: $(READY) proto ## measure speed beside other programs, write docs/bench.md (20 minutes; QUICK=1, SINCE=COMMIT, STEPS=...: see docs/performance.md)
	$(INSTALL) --editable '.[bench]'
	$(BIN)/python -m bench $(STEPS) $(if $(SINCE),--since $(SINCE)) $(if $(QUICK),--quick)

strength: compiled-copy ## play `search` against `greedy`, write docs/strength.md (hours; ONLY='--games yunnan --seats 2 --seconds 0.1')
	cd build/compiled && PYTHONPATH=.:agents ../../$(BIN)/python -m bench.strength $(ONLY)
	cp build/compiled/docs/strength.md build/compiled/docs/strength.svg build/compiled/docs/strength.jsonl docs/

verdicts: $(READY) proto ## simulate how often `dogana compare` is wrong, write docs/verdicts.md (twenty minutes of processor time; TESTS=1000 for less)
	$(BIN)/python -m bench.verdicts --tests $(or $(TESTS),20000)

luck: compiled-copy ## measure luck, seat and skill in all games, write docs/luck.md (an hour; ONLY='--games yunnan --blocks 300' adds to it)
	cd build/compiled && PYTHONPATH=.:agents ../../$(BIN)/python -m bench.luck $(ONLY)
	cp build/compiled/docs/luck.md build/compiled/docs/luck.csv build/compiled/docs/luck_repeats.csv docs/

values: compiled-copy ## fit the values by which `search` rates positions, from their seeds (two minutes)
	for game in cargo_noir venezia; do (cd build/compiled && PYTHONPATH=.:agents ../../$(BIN)/python -m bench.values_$$game) || exit 1; \
		cp build/compiled/agents/house_bots/search/$$game.toml agents/house_bots/search/; done

ratings: $(READY) proto ## simulate ladders, write into docs/ratings.md how often ranges contain the truth, and whether TrueSkill's constants matter (twenty minutes)
	$(BIN)/python -m bench.ratings
	$(BIN)/python -m bench.constants

formats: $(READY) proto ## simulate how often the best entrant wins a tournament of each format, and write it into docs/tournaments.md
	$(BIN)/python -m bench.formats

games: $(READY) proto ## measure all games and write docs/games.md
	$(BIN)/python -m bench.games

.PHONY: help setup constraints proto demo test test-all ladders ray door compiled-copy compiled wheel-test release container pages languages kits docs pictures soak check fmt bench strength verdicts luck values ratings formats games
