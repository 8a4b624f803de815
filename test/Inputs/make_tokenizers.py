"""Writes tokenizers/: a byte-level BPE, texts, and what tokenizers make of them.

usage: make_tokenizers.py

Needs the packages of bench/requirements.txt with tokenizers. The training text
is that of LICENSE and README.md. bpe.json is as GPT-2's tokenizer.json; split.json has a
Split with the expression of GPT-4's tokenizer before ByteLevel, and merges in
the newer form.
"""

import json
from pathlib import Path

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        pre_tokenizers, trainers)

HERE = Path(__file__).parent
OUTPUT = HERE / "tokenizers"
TEXTS = {
    "english": "Call me Ishmael. It's 1851, and they'll say we've seen 3 whales\n"
               "  (and  more\n\n\twhales)...   I'd don't CAN'T\r\n end  ",
    "unicode": "Größe, naïve façade — “quotes” … 日本語のテキスト 한국어 "
               "Ελληνικά русский العربية हिन्दी ไทย 𝔘𝔫𝔦 👩‍👩‍👧‍👦🇩🇪 ½ Ⅷ ² ٣ "
               "a\u0301\u00a0b\u2003c\u200bd\u3000e\u0085f\x00g\x7f",
    "code": "for (int i = 0; i < n; ++i) {\n    x[i] += 0x1F*y[i]; // '''\n}\n"
            "def f(a, *b):\n\treturn a**2 if b else None\n",
    "special": "<|endoftext|>one<|endoftext|> two <|endoftext|><|endoftext|>x "
               "<|endoftext| <|end|><|end|>of",
    "long": "a" * 700 + "ab" * 300 + " " * 50 + "\n" * 20 + "the" * 200,
    "empty": "",
}
GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def make(splitter, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitter
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|endoftext|>", "<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False)
    root = HERE.parent.parent
    tokenizer.train([str(root / name) for name in ("LICENSE", "README.md")],
                    trainer)
    tokenizer.add_special_tokens([AddedToken("<|end|><|end|>", special=True)])
    return tokenizer


def main():
    OUTPUT.mkdir(exist_ok=True)
    split = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(GPT4), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False)
    for name, text in TEXTS.items():
        (OUTPUT / f"{name}.txt").write_bytes(text.encode())
    reference = {}
    for name, splitter in (("bpe", plain), ("split", split)):
        tokenizer = make(splitter, 700)
        path = OUTPUT / f"{name}.json"
        tokenizer.save(str(path), pretty=False)
        if name == "bpe":  # merges as strings, as in published files
            root = json.loads(path.read_text())
            root["model"]["merges"] = [
                merge if isinstance(merge, str) else " ".join(merge)
                for merge in root["model"]["merges"]]
            path.write_text(json.dumps(root, ensure_ascii=False))
            tokenizer = Tokenizer.from_file(str(path))
        reference[name] = {text: tokenizer.encode(value).ids
                           for text, value in TEXTS.items()}
    (OUTPUT / "reference.json").write_text(json.dumps(reference))


if __name__ == "__main__":
    main()
