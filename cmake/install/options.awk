# Reads the --help of a tool, in the forms that the parsers of LLVM and CLI11 print. Writes a line for each subcommand and option:
# its name, its values and its description, with tabs between them. No apostrophes here: completions embed this file in quotes.
function flush() {
  if (name != "")
    print name "\t" values "\t" text
  name = ""
}
/^[^ ]/ {
  flush()
  in_commands = tolower($0) ~ /^subcommands:/
  next
}
# "  --name=<A|B>  - text", "  -o <FILE>  - text", "  -n,--name N  text"
/^ +-/ {
  flush()
  sub(/^ +/, "")
  sub(/^-[A-Za-z],/, "")
  if (!match($0, /^--?[A-Za-z][-A-Za-z0-9]*/))
    next
  name = substr($0, 1, RLENGTH)
  text = substr($0, RLENGTH + 1)
  values = ""
  if (match(text, /^[ =]<[^>]*>/))
    values = substr(text, 3, RLENGTH - 3)
  else if (match(text, /^ [^ -][^ ]*/))
    values = substr(text, 2, RLENGTH - 1)
  text = substr(text, RLENGTH > 0 ? RLENGTH + 1 : 1)
  sub(/^ +/, "", text)
  sub(/^- +/, "", text)
  # CLI11 prints its checks between values and text.
  sub(/^in \[[^]]*\] */, "", text)
  sub(/^REQUIRED */, "", text)
  next
}
# "    =value  - text", under an option of LLVM that is an enumeration
/^ +=[A-Za-z]/ {
  sub(/^=/, "", $1)
  values = (values ~ /^(value|[a-z]*)$/ && !enumerated[name] ? "" : values "|") $1
  enumerated[name] = 1
  next
}
in_commands && /^  [a-z]/ {
  flush()
  name = $1
  values = ""
  text = $0
  sub(/^ *[^ ]+ +/, "", text)
  sub(/^- +/, "", text)
  flush()
  next
}
# CLI11 begins the text in the next line if the name is long.
/^ +[^ ]/ && name != "" && text == "" {
  text = $0
  sub(/^ +/, "", text)
}
END { flush() }
