#!/usr/bin/env python3
"""Checks the first words of comments, messages, pages and commit titles.

usage: tools/prose.py [--commits]

A sentence begins with its subject, not with a clause ("What is kept ..."), so
no comment, message, summary, heading or paragraph opens with one of the words
of CLAUSES. With --commits the titles since this check came are looked at, too:
"[Area] Verb ...", imperative, at most 72 characters, and a body.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("bench", "cmake", "docs", "examples", "include", "lib",
           "python-free-frontend", "test", "tools", "unittests")
CLAUSES = r"(?:What|Of|Which|Who|Whose|Whom|That)\b(?!-)"
COMMENT = {".cpp": "//", ".h": "//", ".cu": "//", ".def": "//", ".td": "//",
           ".py": "#", ".sh": "#", ".cmake": "#", ".txt": "#"}
MESSAGE = re.compile(rf'"(?:[\w /:%\'-]*: )?({CLAUSES} [^"]*)"')
TITLE = re.compile(r"\[[A-Z][\w, -]*\] ([A-Z][a-z]+)\b.+")
# These first words are not imperatives.
NO_VERBS = {"The", "This", "These", "Those", "There", "They", "It", "Its", "No",
            "Not", "Now", "New", "Each", "Every", "All", "Any", "Some", "One",
            "Two", "Both", "Only", "Also", "And", "But", "For", "From", "With",
            "Without", "In", "On", "At", "By", "To", "As", "If", "Where", "When",
            "While", "After", "Before", "Why", "More", "Less", "Fewer",
            "An", "A", "Rows", "Losses", "Ranks", "Gradients", "Weights"}


def files():
    for name in (*FOLDERS, "README.md", "CONTRIBUTING.md", "CMakeLists.txt"):
        path = ROOT / name
        yield from sorted(path.rglob("*")) if path.is_dir() else [path]


def first_sentences(path, lines):
    """The line number and text of whatever may open with a clause."""
    mark = COMMENT.get(path.suffix)
    in_block = in_code = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if path.suffix == ".md":
            in_code ^= text.startswith("```")
            starts = number == 1 or not lines[number - 2].strip()
            if not in_code and (starts or text[:2] in ("* ", "# ", "##", "- ")):
                yield number, text.lstrip("#*- ").replace("**", "")
            continue
        is_comment = mark is not None and text.startswith(mark)
        if is_comment and not in_block:
            yield number, text.lstrip("/#!< ")
        elif is_comment and lines[number - 2].strip().rstrip("/<") == mark:
            yield number, text.lstrip("/#!< ")  # a paragraph of a comment
        in_block = is_comment
        if path.suffix in (".cpp", ".h", ".def", ".td", ".py", ".sh"):
            for message in MESSAGE.findall(line):
                yield number, message


def check_files():
    opening = re.compile(CLAUSES)
    problems = []
    for path in files():
        if path.suffix not in (*COMMENT, ".md") or path == Path(__file__).resolve():
            continue
        lines = path.read_text(errors="replace").splitlines()
        problems += [f"{path.relative_to(ROOT)}:{number}: {text}"
                     for number, text in first_sentences(path, lines)
                     if opening.match(text)]
    return problems


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True,
                          text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def check_commits():
    name = Path(__file__).resolve().relative_to(ROOT)
    added = git("log", "--diff-filter=A", "--format=%H", "--", str(name))
    commits = git("log", "--no-merges", "--format=%H",
                  f"{added.splitlines()[-1]}..HEAD" if added else "-1")
    problems = []
    for commit in commits.split():
        title, _, body = git("log", "-1", "--format=%B", commit).partition("\n")
        match = TITLE.fullmatch(title)
        wrong = ("is longer than 72 characters" if len(title) > 72 else
                 "is not '[Area] Verb ...'" if not match else
                 "does not open with an imperative" if match[1] in NO_VERBS else
                 "has no body that says why" if not body.strip() else "")
        if wrong:
            problems.append(f"{commit[:8]}: '{title}' {wrong}")
    return problems


def main():
    problems = check_files()
    if "--commits" in sys.argv[1:]:
        problems += check_commits()
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"prose.py: {len(problems)} places; see 'Prose' in "
                 "CONTRIBUTING.md")


if __name__ == "__main__":
    main()
