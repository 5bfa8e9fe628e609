"""How much of everything a service's settings and variables may hold (specification §6).

One table, so that a person can compare it with the documentation line by line. Durations in which
a deployment has to get somewhere are in `deadlines`.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True)
class Range:
    """Whole numbers from `lowest` to `highest`, both included."""

    lowest: int
    highest: int

    def __contains__(self, number: int) -> bool:
        return self.lowest <= number <= self.highest

    def __str__(self) -> str:
        """Return the range as a sentence says it."""
        return f"from {self.lowest} to {self.highest}"


REPLICAS = Range(1, 100)
PORT = Range(1, 65535)
STABILIZATION_SECONDS = Range(0, 240)
DRAIN_SECONDS = Range(0, 900)
STOP_SECONDS = Range(0, 600)
RELEASE_COMMAND_SECONDS = Range(1, 1800)

PROCESSES = 10
COMMAND_WORDS = 64
COMMAND_BYTES = 4 * KIB
READINESS_PATH_LENGTH = 255
SCHEDULE_LENGTH = 100
QUANTITY_LENGTH = 30
IMAGE_REPOSITORY_LENGTH = 200

# Above these Kubernetes or a kubelet overflows, and no machine of today has as much.
CPU_MILLICORES = 1_000_000
MEMORY_BYTES = 64 * 2**40

VARIABLES = 500
VARIABLE_KEY_LENGTH = 128
VARIABLE_VALUE_BYTES = 32 * KIB
# A Kubernetes Secret holds 1 MiB; a release's variables become one.
VARIABLES_BYTES = 512 * KIB
