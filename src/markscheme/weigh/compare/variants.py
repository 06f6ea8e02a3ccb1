"""More than two variants: every two of them compared by ratings, with Holm over the pairs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markscheme.vocabulary import to_float
from markscheme.weigh.compare.result import Comparison
from markscheme.weigh.stats import adjust_by_holm

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantPair:
    """Two of several variants; `p_holm` adjusts the two-sided p for the number of pairs."""

    comparison: Comparison
    p_holm: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantsComparison:
    """Several variants in pairs; the first is the baseline of what is decided."""

    variants: tuple[str, ...]
    pairs: tuple[VariantPair, ...]

    @property
    def decided(self) -> tuple[Comparison, ...]:
        """The candidates beside the baseline, each with its decision."""
        compared = (pair.comparison for pair in self.pairs)
        return tuple(one for one in compared if one.baseline == self.variants[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `markscheme compare --format json` prints."""
        return {
            "variants": list(self.variants),
            "pairs": [
                {"p_holm": to_float(pair.p_holm), **pair.comparison.to_dict()}
                for pair in self.pairs
            ],
        }


def adjust_variant_pairs(
    variants: Sequence[str], compared: Sequence[Comparison]
) -> VariantsComparison:
    """Return comparisons of every two variants, their p-values adjusted for their number."""
    tested = [one.statistics.paired.flips for one in compared]
    adjusted = iter(adjust_by_holm([flips.two_sided for flips in tested if flips]))
    return VariantsComparison(
        variants=tuple(variants),
        pairs=tuple(
            VariantPair(comparison=one, p_holm=next(adjusted) if flips else None)
            for one, flips in zip(compared, tested, strict=True)
        ),
    )
