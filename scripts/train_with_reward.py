"""Take two real steps of TRL's GRPO on a tiny model, with a rubric as the reward.

python scripts/train_with_reward.py FOLDER

Installs torch, TRL and this repository into an environment in FOLDER, which a second call uses
again. The model has random weights and a tokenizer of characters, so nothing is downloaded. Prints
what the trainer logged in each step.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
_PROGRAM = """\
import json, pickle, string, sys
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from markscheme import load_exam, load_rubric
from markscheme.rewards import Reward

rubric = load_rubric("tutor-capstone")
exam = load_exam("capstone", rubric=rubric)
reward = pickle.loads(pickle.dumps(Reward(rubric, exam)))
signs = {sign: n for n, sign in enumerate(["<pad>", "<eos>", "<unk>", *string.printable])}
raw = Tokenizer(models.WordLevel(signs, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Split("", "isolated")
raw.decoder = decoders.Fuse()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
)
model = GPT2LMHeadModel(GPT2Config(
    vocab_size=len(signs), n_positions=256, n_embd=32, n_layer=2, n_head=2,
    bos_token_id=1, eos_token_id=1, pad_token_id=0,
))
rows = [{"prompt": item.prompt, "item": item.id} for item in exam.items[:3]]
rows.append({"prompt": "Not in the exam", "item": "none"})
trainer = GRPOTrainer(
    model=model, reward_funcs=reward, train_dataset=Dataset.from_list(rows),
    processing_class=tokenizer,
    args=GRPOConfig(
        output_dir="out", max_steps=2, per_device_train_batch_size=4, num_generations=2,
        max_completion_length=16, logging_steps=1, use_cpu=True, report_to=[], save_strategy="no",
        disable_tqdm=True, seed=1,
    ),
)
trainer.train()
told = ("reward", "axis", "marked", "step")
for entry in trainer.state.log_history:
    print(json.dumps({key: entry[key] for key in entry if any(word in key for word in told)}))
"""


def main() -> int:
    """Install, train, and return the exit code of the training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "environment" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "environment")], check=True)  # noqa: S603
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "torch", "trl", str(ROOT)], check=True)  # noqa: S603 - our own words
    program = folder / "train.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""}
    command = [str(python), program.name]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **offline}, check=False)  # noqa: S603
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
