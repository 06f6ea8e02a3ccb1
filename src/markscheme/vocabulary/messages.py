"""Messages for readers: an English text that remembers its template and the values put into it.

Whatever says something to a reader (the reason of a cell, why a gate failed, why a run stopped)
makes it with `sentence`. Files and JSON hold the English text. `tell.language.translate_stored`
looks the template up in the message catalogue of another language and puts the values into the
translation. Nothing ever parses a finished text.

The store keeps template and values beside the text (`encode_message`) and gives them back when the
text is read (`restore_message`). A text without them, as in a result file, stays English.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any, Self

# The hidden column of marked rows: for each axis the encoded message of its `reason`, or null.
MESSAGE_COLUMN = "message"
_SIMPLE_TYPES = frozenset({str, int, float})


class Message(str):
    """An English text together with the template and the values that it was made of.

    It is equal to its text and is written as its text; a value may be a message itself.
    """

    __slots__ = ("template", "values")
    template: str
    values: Mapping[str, object]

    def __new__(cls, text: str, template: str, values: Mapping[str, object]) -> Self:
        """Return the text with the parts it was made of."""
        message = super().__new__(cls, text)
        message.template = template
        message.values = values
        return message

    def __reduce__(self) -> tuple[object, ...]:
        """Let a message be pickled with its parts, for worker processes."""
        return type(self), (str(self), self.template, self.values)

    def format(self, *args: object, **values: object) -> Message:
        """Fill in a message that was made without values: a template chosen from several."""
        return Message(super().format(*args, **values), self.template, values)

    def fill(self, template: str, translate: Any) -> str:
        """Return another template, a translation of this one, filled with the same values.

        Values are formatted as the English template says, so that both texts show the same numbers;
        `translate` is applied to values that are messages themselves.
        """
        fields = {
            name: translate(value) if isinstance(value, Message) else text
            for name, value, text in self.format_fields()
        }
        return _strip_format_specs(template).format(**fields) if fields else template

    def format_fields(self) -> Iterator[tuple[str, object, str]]:
        """Yield the name, the value and the English text of each field."""
        for name, conversion, spec in _list_fields(self.template) if self.values else ():
            value = self.values[name]
            if isinstance(value, str) and not conversion:
                yield name, value, value  # formatted already, if it was restored
            else:
                shown = repr(value) if conversion == "r" else value
                yield name, value, format(shown, spec)


def sentence(template: str, /, **values: object) -> str:
    """Return an English `Message`; the template, a literal, is the key of its translations."""
    # Every distinct cell passes here, so the message is made without the call of `__new__`.
    message = str.__new__(Message, template.format(**values) if values else template)
    message.template = template
    message.values = values
    return message


def join_messages(separator: str, parts: Iterable[str]) -> str:
    """Join texts as `str.join` does, but let each part that is a message stay translatable."""
    parts = list(parts)
    if not any(isinstance(part, Message) for part in parts):
        return separator.join(parts)
    names = [f"part_{number}" for number in range(len(parts))]
    template = separator.join(f"{{{name}}}" for name in names)
    return Message(separator.join(parts), template, dict(zip(names, parts, strict=True)))


def encode_message(text: str) -> str | None:
    """Return the template and the values of a message as JSON, or None for any other text."""
    import orjson  # noqa: PLC0415 - not loaded by `import markscheme`

    if not isinstance(text, Message):
        return None
    # Nearly all values are texts and numbers, which JSON holds as they are.
    simple = _SIMPLE_TYPES.issuperset(map(type, text.values.values()))
    data = [text.template, text.values] if simple else _to_data(text)
    try:
        return orjson.dumps(data).decode()
    except TypeError:  # half a surrogate pair, or a number of more than 64 bits
        return None


def _to_data(message: Message) -> list[object]:
    fields = {
        name: _to_data(value) if isinstance(value, Message) else text
        for name, value, text in message.format_fields()
    }
    return [message.template, fields]


def restore_message(text: str, encoded: str | None) -> str:
    """Return a stored text as the message it was, or as it is if these are not its parts."""
    if encoded is None:
        return text
    message = _decode_message(encoded)
    return text if message is None or message != text else message


@lru_cache(maxsize=16_384)
def _decode_message(encoded: str) -> Message | None:
    import orjson  # noqa: PLC0415 - not loaded by `import markscheme`

    try:
        return _from_data(orjson.loads(encoded))
    except (ValueError, LookupError, TypeError, AttributeError):  # not written by encode_message
        return None


def _from_data(data: Sequence[Any]) -> Message:
    template, fields = data
    values = {
        name: _from_data(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    message = Message("", template, values)
    return Message(message.fill(template, str), template, values)


def restore_row_messages(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield marked rows whose reasons are messages again, without the hidden column."""
    for row in rows:
        encoded = row.pop(MESSAGE_COLUMN, None)
        if encoded is not None and row["reason"] is not None:
            row["reason"] = {
                axis: text if text is None else restore_message(text, encoded.get(axis))
                for axis, text in row["reason"].items()
            }
        yield row


@lru_cache(maxsize=2_048)
def _list_fields(template: str) -> tuple[tuple[str, str, str], ...]:
    """Return the name, the conversion and the format of each field, each name once."""
    fields = {
        name: (name, conversion or "", spec or "")
        for _, name, spec, conversion in Formatter().parse(template)
        if name is not None
    }
    return tuple(fields.values())


@lru_cache(maxsize=2_048)
def _strip_format_specs(template: str) -> str:
    """Return a template with plain fields, for values that are formatted already."""
    parts = []
    for literal, name, _, _ in Formatter().parse(template):
        parts.append(literal.replace("{", "{{").replace("}", "}}"))
        if name is not None:
            parts.append(f"{{{name}}}")
    return "".join(parts)
