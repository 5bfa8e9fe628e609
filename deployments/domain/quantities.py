"""CPU and memory as Kubernetes writes them, as whole numbers, and as a person reads them.

CPU is kept in thousandths of a core, memory in bytes.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal

_QUANTITY = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,9})?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_FACTORS = {
    "m": Decimal("0.001"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}


def parse(text: str) -> Decimal:
    """Return a Kubernetes quantity as a number. Raises ValueError for anything else."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a quantity such as 500m, 2, 64Mi or 1.5Gi")
    return Decimal(found[1]) * _FACTORS[found[2] or ""]


def millicores(text: str) -> int:
    """Return a CPU quantity in thousandths of a core, rounded up as Kubernetes does."""
    return _ceiling(parse(text) * 1000)


def whole(text: str) -> int:
    """Return a quantity of bytes or of pods, rounded up."""
    return _ceiling(parse(text))


def cpu_words(amount: int) -> str:
    """Return thousandths of a core as a person reads them: `1.5 CPU`."""
    return f"{_short(Decimal(amount) / 1000)} CPU"


def memory_words(amount: int) -> str:
    """Return bytes as a person reads them: `768 MiB`, `2 GiB`."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= size:
            return f"{_short(Decimal(amount) / size)} {unit}"
    return f"{amount} B"


def _short(number: Decimal) -> str:
    # Rounded up: whoever adds what a message names must not find it too little again.
    digits = Decimal("0.001") if number < 1 else Decimal("0.1")
    text = f"{number.quantize(digits, rounding=ROUND_CEILING):f}"
    return text.rstrip("0").rstrip(".")


def _ceiling(number: Decimal) -> int:
    return int(number.to_integral_value(rounding=ROUND_CEILING))
