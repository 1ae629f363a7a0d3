#!/usr/bin/env bash
# clang-format on every C++ file, then clang-tidy on every source of sim/.
# usage: lint.sh FOLDER-WITH-COMPILE-COMMANDS JOBS
#
# A file is examined again only when what the compiler sees of it changed: its preprocessed text, the
# rules, or clang-tidy itself. The stamps lie in FOLDER/clean/.
set -euo pipefail
folder=$1 jobs=$2
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
mkdir -p "$folder/clean"
cd "$root"

mapfile -d '' files < <(find sim tests -type f \( -name '*.cpp' -o -name '*.hpp' \) -print0 | sort -z)
failed=0
clang-format --dry-run -Werror "${files[@]}" || failed=1
echo "clang-format: ${#files[@]} files" >&2

rules=$({ clang-tidy --version; cat .clang-tidy; } | sha256sum | cut -c1-64)

# The compile database without what compiles: FILE<tab>COMMAND, for the preprocessor.
/usr/bin/python3 - "$folder" >"$folder/clean/commands" <<'PYTHON'
import json, pathlib, re, sys
for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text()):
    print(entry["file"], re.sub(r" -o \S+ -c ", " -E -P ", entry["command"]), sep="\t")
PYTHON

examine() { # FILE
  local file=$1 key command
  command=$(awk -F'\t' -v file="$root/$file" '$1 == file { print $2; exit }' "$folder/clean/commands")
  key=$(bash -c "$command" | { printf '%s %s\n' "$rules" "$file"; cat; } | sha256sum | cut -c1-64)
  [ -e "$folder/clean/$key" ] && return 0
  if ! clang-tidy --quiet -p "$folder" "$file" 2>"$folder/clean/$key.log"; then
    cat "$folder/clean/$key.log" >&2
    rm -f "$folder/clean/$key.log"
    return 1
  fi
  rm -f "$folder/clean/$key.log"
  : >"$folder/clean/$key"
}
export -f examine
export folder rules root

mapfile -d '' sources < <(find sim -type f -name '*.cpp' -print0 | sort -z)
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'examine "$1"' examine || failed=1
echo "clang-tidy: ${#sources[@]} files" >&2
exit "$failed"
