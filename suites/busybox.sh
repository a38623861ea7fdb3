#!/bin/bash
# busybox.sh TREE BUSYBOX OUT: testsuite/dd of a BusyBox tree against BUSYBOX, whose first word is "dd".
tree=$(realpath "$1"); busybox=$(realpath -s "$2"); mkdir -p "$3/bin"; out=$(realpath "$3")
ln -sf "$busybox" "$out/bin/busybox"
for test in "$tree"/testsuite/dd/*; do
  name=$(basename "$test"); rm -rf "$out/$name.d"; mkdir "$out/$name.d"; cd "$out/$name.d" || exit 2
  PATH="$out/bin:$PATH" timeout 60 sh -x -e "$test" > "../$name.log" 2>&1 < /dev/null && echo "PASS $name" || echo "FAIL $name"
done
