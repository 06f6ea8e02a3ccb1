"""Who makes a model, by its name: a judge of the same maker tends to prefer its relatives."""

from __future__ import annotations

import re

# Words that begin the names of a maker's models; the first that a name has decides.
_MAKERS = {
    "OpenAI": r"gpt|chatgpt|o[134](?![a-z0-9])|davinci|codex",
    "Anthropic": r"claude|haiku|sonnet|opus",
    "Google": r"gemini|gemma|palm",
    "Meta": r"llama|codellama",
    "Mistral": r"mistral|mixtral|ministral|codestral|magistral",
    "Alibaba": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "xAI": r"grok",
    "Microsoft": r"phi",
    "Cohere": r"command|aya",
    "Hugging Face": r"smollm|zephyr",
    "Moonshot": r"kimi|moonshot",
    "Zhipu": r"glm|chatglm",
    "Amazon": r"nova|titan",
    "IBM": r"granite",
    "AI21": r"jamba|jurassic",
}
_PATTERNS = {
    maker: re.compile(rf"(?:^|[^a-z0-9])(?:{names})(?![a-z])", re.IGNORECASE)
    for maker, names in _MAKERS.items()
}
_MODEL_KINDS = {"openai", "llm", "local"}


def find_maker(subject: str) -> str | None:
    """Return who makes the model that a subject names; None where its name does not tell.

    >>> find_maker("openai:gpt-5-mini"), find_maker("small=llm:claude-haiku-4.5")
    ('OpenAI', 'Anthropic')
    >>> find_maker("cmd:./answer.sh") is None
    True
    """
    kind, colon, model = subject.partition(":")
    if colon and kind.rpartition("=")[2] not in _MODEL_KINDS:
        return None
    name = (model if colon else subject).partition("@http")[0]
    return next((maker for maker, names in _PATTERNS.items() if names.search(name)), None)
