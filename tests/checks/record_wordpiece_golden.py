"""Records tests/wordpiece_golden.json: texts that are hard to tokenise, with the ids that the tokenizers library gives.

    python tests/checks/record_wordpiece_golden.py path/to/potion-base-8M/tokenizer.json

Its results are data for test_wordpiece.py, which needs neither the library nor that file.
"""

import json
import random
import sys
from pathlib import Path

import tokenizers

PLAIN = """
The quick brown fox jumps over the lazy dog.|Hello, World!|don't can't won't it's|e-mail re-use co-operate
snake_case camelCase v0.1.0 C++ foo.bar() --flag=value $HOME/.config|https://example.org/a?b=c&d=%20#frag|user@example.org
3.14159 1,000,000 1e-9 0xDEADBEEF|antidisestablishmentarianism|supercalifragilisticexpialidocious|unaffable
pneumonoultramicroscopicsilicovolcanoconiosis|internationalization i18n|``quoted'' "text" «guillemets» „low“ ‚one‘
naïve café résumé Ångström Übergröße straße STRASSE ẞ|Ελληνικά ΣΊΣΥΦΟΣ ςσΣ|Русский Ёлка й|עברית שָׁלוֹם|العربية مُحَمَّد
हिन्दी में|ไทยภาษา|한국어 조선말 가각힣|日本語のテキスト カタカナ ﾊﾝｶｸ|中文字符混合english文本|𠀀𪜀 CJK extension|﨎豈欄 compatibility
İstanbul ISPARTA ıspanak|ﬁ ﬂ ﬃ ligatures|½ ¼ ² ³ № ™ © ®|😀 emoji 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪|→ ⇒ ∀x∈ℝ ∑ √2 ≠ ≤ ±|€100 £5 ¥7 ₹9
[CLS] [SEP] [MASK] [PAD] [UNK]|[cls] [ CLS ] [[CLS]] [CLS[SEP]]|x[MASK]y|a[UNK|[|]|[]|[MASK|## ##ing #ing|##|#
tab\\there|line\\nbreak\\r\\nmore|nul\\0inside|bell\\x07inside|soft\\u00adhyphen|zero\\u200bwidth\\u200cjoin\\u200d\\ufeffbom
nbsp\\u00a0between|thin\\u2009space\\u3000ideographic|line\\u2028separator\\u2029paragraph|\\u0085next|\\ufffdreplaced\\ufffd
e\\u0301 combining a\\u0308\\u0323\\u0301|\\u0301alone|a\\u0300\\u0301\\u0302\\u0303\\u0304\\u0305b|\\u1e9b\\u0323 \\u212b \\u2126 \\u037e \\u1fef
\\ue000private\\uf8ff|\\U000f0000plane|\\u0378unassigned|\\U0010ffffx|\\ud7b0\\u11ff jamo|\\U0001d15e\\U0001d160 music|\\u302e\\uac00\\u302f
\\u1885 \\ua9bd \\U000111c9 \\U0001171e age|\\u2e43 \\u09fd newer|\\u166d older|'\\u2019 \\u2014\\u2013\\u2012 \\u2026|\\u00b7 \\u30fb \\uff01\\uff0c
"""


def hard_texts():
    """The texts: chosen ones, words at the limits of length, and mixtures drawn from a fixed seed."""
    chosen = [
        text.encode("latin-1", "backslashreplace").decode("unicode_escape") for text in split(PLAIN)
    ]
    longest = [
        c * n for c in ("a", "é", "가", "?", "字", "\u0301", "ß") for n in (99, 100, 101, 300)
    ]
    longest += [
        "a" * 99 + "é",
        "a" * 100 + "é",
        "a" * 100 + "\u0301",
        "a" * 100 + "[CLS]",
        "가" * 33 + "a",
        "가" * 34,
    ]
    rng = random.Random(20)
    parts = [
        *chosen,
        *"aZ0_-. \t[]é字가ß",
        "\u0301",
        "ing",
        "Un",
        "\u200b",
        "[SEP]",
        "token",
        "ization",
        "Ж",
        "\U0001f600",
    ]
    drawn = [
        "".join(rng.choices(parts, k=rng.randrange(1, 12)))[: rng.randrange(1, 200)]
        for _ in range(200)
    ]
    return ["", " ", "\n\n", *chosen, *longest, *drawn]


def split(block):
    return [text for line in block.strip().splitlines() for text in line.split("|")]


def main():
    tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
    texts = list(dict.fromkeys(hard_texts()))
    records = [[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in texts]
    out = Path(__file__).parents[1] / "data" / "wordpiece_golden.json"
    lines = ",\n".join(json.dumps(record, separators=(",", ":")) for record in records)
    out.write_text(
        f'{{"recorded_with":"tokenizers {tokenizers.__version__}","records":[\n{lines}\n]}}\n'
    )
    print(f"{out}: {len(records)} texts")


if __name__ == "__main__":
    main()
