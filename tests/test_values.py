"""Dataclasses that are made quickly are as the standard library makes them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, field, replace
from functools import cached_property
from typing import Any, ClassVar, get_type_hints

import pytest

from markscheme.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    """One that is made quickly."""

    shared: ClassVar[int] = 7

    name: str
    size: int = 1
    parts: list[str] = field(default_factory=list, hash=False)
    note: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("too small")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """The same, made by the standard library."""

    shared: ClassVar[int] = 7

    name: str
    size: int = 1
    parts: list[str] = field(default_factory=list, hash=False)
    note: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Further(Quick):
    """One that has more."""

    more: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Child(Usual):
    """One whose base the standard library made."""

    more: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Grandchild(Child):
    """One that somebody else makes by the standard library."""

    most: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Heir(Quick):
    """One that somebody else makes of one of ours."""

    most: int = 0


@dataclass(frozen=True, kw_only=True)
class Roomy:
    """One with room for what is found out later."""

    name: str

    @cached_property
    def length(self) -> int:
        """How long the name is."""
        return len(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """One that holds nothing."""


GIVEN: list[dict[str, Any]] = [
    {"name": "a"},
    {"name": "a", "size": 2},
    {"name": "a", "parts": ["x"]},
    {"name": "a", "note": "n"},
    {"name": "b", "size": 1, "parts": [], "note": ""},
]


@pytest.mark.parametrize("given", GIVEN)
def test_both_say_the_same_of_themselves(given: dict[str, Any]) -> None:
    quick, usual = Quick(**given), Usual(**given)
    assert repr(quick) == repr(usual).replace("Usual", "Quick")
    assert asdict(quick) == asdict(usual)
    assert hash(quick) == hash(usual)
    assert replace(quick, size=9).size == replace(usual, size=9).size == 9
    assert vars(Quick)["__replace__"](quick, size=9) == replace(quick, size=9)


@pytest.mark.parametrize("one", GIVEN)
@pytest.mark.parametrize("other", GIVEN)
def test_both_are_equal_to_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (Quick(**one) == Quick(**other)) == (Usual(**one) == Usual(**other))
    usual: object = Usual(**one)
    assert Quick(**one) != usual


@pytest.mark.parametrize("wrong", [{}, {"name": "a", "other": 1}])
def test_both_refuse_the_same_arguments(wrong: dict[str, Any]) -> None:
    for kind in (Quick, Usual):
        with pytest.raises(TypeError, match="argument"):
            kind(**wrong)
    with pytest.raises(TypeError, match="positional"):
        Quick("a")  # type: ignore[call-arg]


def test_nothing_can_be_set_or_deleted() -> None:
    usual = (Usual(name="a"), Grandchild(name="a"), Heir(name="a"))
    for one in (Quick(name="a"), Child(name="a"), *usual):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
            one.name = "b"  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
            del one.name
        assert not hasattr(one, "__dict__")


def test_what_is_copied_or_pickled_is_the_same() -> None:
    one = Further(name="a", parts=["x"], more=(1,))
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == copy.copy(one) == one  # noqa: S301 - our own


def test_a_default_that_is_made_is_made_each_time() -> None:
    assert Quick(name="a").parts is not Quick(name="a").parts


def test_a_check_of_its_own_is_called() -> None:
    with pytest.raises(ValueError, match="too small"):
        Further(name="a", size=-1)


def test_one_may_inherit_from_another_and_from_a_usual_one() -> None:
    assert repr(Further(name="a", more=(1,))) == "Further(name='a', size=1, parts=[], more=(1,))"
    assert Further(name="a") != Quick(name="a")
    assert Child(name="a", more=2) == Child(name="a", more=2) != Child(name="a")
    assert repr(Grandchild(name="a", most=3)).endswith("more=0, most=3)")
    assert Heir(name="a", most=3) == Heir(name="a", most=3) != Heir(name="a")
    assert Empty() == Empty()
    assert repr(Empty()) == "Empty()"


def test_the_first_and_the_many_that_follow_are_made_alike() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        """One with a field of a name that a constructor may use itself."""

        instance: int
        given: int = 2

    made = [Named(instance=1) for _ in range(20)]
    assert len(set(made)) == 1
    assert repr(made[0]).endswith("Named(instance=1, given=2)")


def test_one_without_slots_may_keep_what_it_finds_out() -> None:
    one = Roomy(name="abc")
    assert (one.length, vars(one)) == (3, {"name": "abc", "length": 3})
    assert pickle.loads(pickle.dumps(one)) == one == Roomy(name="abc")  # noqa: S301 - our own
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        one.name = "b"  # type: ignore[misc]


@pytest.mark.parametrize("make", [dataclass, dataclasses.dataclass])
def test_what_belongs_to_the_class_may_be_nothing(make: Any) -> None:
    @make(frozen=True, slots=True, kw_only=True)
    class Bare:
        """One with a constant that is nothing."""

        unit: ClassVar[str | None] = None

        size: int = 1

    assert Bare.unit is Bare().unit is None


@pytest.mark.parametrize("make", [dataclass, dataclasses.dataclass])
def test_a_default_that_all_would_share_is_refused(make: Any) -> None:
    class Sharing:
        """One with a list that each would add to."""

        parts: list[str] = []  # noqa: RUF012 - the mistake

    with pytest.raises(ValueError, match=r"mutable default .* for field parts"):
        make(frozen=True, slots=True, kw_only=True)(Sharing)


@pytest.mark.parametrize("make", [dataclass, dataclasses.dataclass])
def test_one_without_slots_is_the_class_that_was_written(make: Any) -> None:
    @make(frozen=True, kw_only=True)
    class Louder(Roomy):
        """One that asks its base, which it can only as the class in which this is written."""

        by: int = 2

        def longer(self) -> int:
            """Return more than the length."""
            return super().length + self.by

    assert (Louder(name="abc").longer(), Louder.by) == (5, 2)


def test_who_asks_is_told_the_parameters() -> None:
    quick, usual = (inspect.signature(kind).parameters for kind in (Quick, Usual))
    assert [*quick] == [*usual]
    assert quick["size"] == usual["size"]
    assert get_type_hints(Quick.__init__) == get_type_hints(Usual.__init__)


def test_one_that_holds_itself_can_be_shown() -> None:
    one = Quick(name="a", parts=[])
    one.parts.append(one)  # type: ignore[arg-type]
    assert repr(one) == "Quick(name='a', size=1, parts=[...])"
