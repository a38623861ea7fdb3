#!/bin/bash
# toybox.sh TREE DD OUT: tests/dd.test of a toybox tree, with its own scripts/runtest.sh around it, against DD.
tree=$(realpath "$1"); dd=$(realpath -s "$2"); mkdir -p "$3"; out=$(realpath "$3")
rm -rf "$out/t"; mkdir -p "$out/bin" "$out/t/testdir"; cd "$out/t/testdir" || exit 2
ln -sf "$dd" "$out/bin/dd"
export PATH="$out/bin:$PATH" TOPDIR="$tree" FILES="$tree/tests/files" LANG=C LC_COLLATE=C VERBOSE=all TEST_HOST=1 C="$out/bin/dd" CMDNAME=dd \
  TESTDIR="$out/t" SCRIPT="$tree/tests/dd.test"
timeout 300 bash -c '. "$TOPDIR/scripts/runtest.sh"; . "$SCRIPT"' > "$out/log" 2>&1
sed 's/\x1b\[[0-9;]*m//g' "$out/log" | grep -aE '^(PASS|FAIL|SKIP): ' | sed 's/: / /'
