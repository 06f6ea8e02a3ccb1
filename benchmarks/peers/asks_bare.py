"""A bare program that asks: `click` and `asyncio`, JSON in and out, bytes over sockets.

Nothing is checked, kept, scored or told. What it takes is the floor for any command in Python that
asks by `asyncio`: the start of the interpreter, what these import, and the waiting.

    python asks_bare.py URL EXAM AT_ONCE
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

import click

_HEAD = "POST {path}/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n\r\n"


async def asked(url: str, prompts: list[str], at_once: int) -> list[str]:
    """Ask all, each connection one after the other."""
    parts = urlsplit(url)
    answers: list[str] = []

    async def work() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        while prompts:
            messages = [{"role": "user", "content": prompts.pop()}]
            body = json.dumps({"model": "m", "messages": messages}).encode()
            head = _HEAD.format(path=parts.path, host=parts.netloc, length=len(body))
            writer.write(head.encode() + body)
            told = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(told.partition("content-length:")[2].split()[0])
            answer = json.loads(await reader.readexactly(length))
            answers.append(answer["choices"][0]["message"]["content"])
        writer.close()

    await asyncio.gather(*(work() for _ in range(at_once)))
    return answers


@click.command()
@click.argument("url")
@click.argument("exam", type=click.Path(path_type=Path))
@click.argument("at_once", type=int)
def main(url: str, exam: Path, at_once: int) -> None:
    """Ask every item of an exam."""
    items = json.loads(exam.read_bytes())["items"]
    answers = asyncio.run(asked(url, [item["prompt"] for item in items], at_once))
    click.echo(f"{len(answers)} answers")


if __name__ == "__main__":
    main()
