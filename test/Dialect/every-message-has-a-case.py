"""usage: every-message-has-a-case.py SOURCE_DIR: names verifier messages of the dialect that no test expects.

A message is the string literals of an emitOpError, emitError or emitOptionalError in lib/Dialect, or of what sharding rules
assign to `error`, in order. It has a case if an expected-error in test/Dialect, or an EXPECT_EQ in unittests/Dialect, has them in
this order. Literals of a conditional operator do not count.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def without_conditionals(text):
    """Removes innermost groups in parentheses that choose between literals."""
    while True:
        shorter = re.sub(r'\([^()]*\?[^()]*\)', '', text)
        if shorter == text:
            return text
        text = shorter


def find_messages():
    for path in sorted((root / "lib/Dialect").rglob("*.cpp")):
        source = path.read_text()
        source = re.sub(r'^\s*//.*$', lambda m: " " * len(m.group()), source, flags=re.M)
        for call in re.finditer(r'\bemit(?:OpError|Error|OptionalError)\(|\berror \+?=\s', source):
            statement = source[call.start():source.index(";", call.start())]
            # Adjacent literals are one.
            statement = re.sub(r'"\s*\n\s*"', '', without_conditionals(statement))
            literals = [l.strip() for l in LITERAL.findall(statement)]
            literals = [l for l in literals if re.search(r'\w', l)]
            if literals:
                line = source.count("\n", 0, call.start()) + 1
                yield f"{path.relative_to(root)}:{line}", literals


def find_expectations():
    for path in sorted((root / "test/Dialect").glob("*.mlir")):
        yield from re.findall(r'expected-error[^{]*\{\{(.*?)\}\}\s*$', path.read_text(), flags=re.M)
    for path in sorted((root / "unittests/Dialect").glob("*.cpp")):
        yield from re.findall(r'EXPECT_EQ\(\w+,\s*"(.*?)"\)', path.read_text())


messages = list(find_messages())
expectations = list(find_expectations())
for place, literals in messages:
    pattern = re.compile(".*".join(map(re.escape, literals)))
    if not any(pattern.search(text) for text in expectations):
        print(f"missing: a case of '{' ... '.join(literals)}' ({place})")
if len(messages) < 50:
    print(f"missing: found only {len(messages)} messages")
