"""What every test shares, in tests/ and beside the games: one profile of Hypothesis."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# An example can be a whole match, and the machine can be loaded: no test may depend on how long an example takes.
# The examples are the same in every run, so that a failure in one place is a failure everywhere.
settings.register_profile(
    "dogana",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("dogana")
