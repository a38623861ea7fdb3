#!/bin/bash
# run.sh ASSAY OUT: the originals' own suites against the program ASSAY, from the checkouts that FIO_SRC, COREUTILS_SRC, UUTILS_SRC,
# TOYBOX_SRC and BUSYBOX_SRC name. A suite whose source is not named is skipped, and said so. ASSAY is called by the original's name,
# through a link. Ends with 1 where a test fails that known.txt does not list. WITH=PROGRAM runs PROGRAM in its place, such as the
# original itself. FIO_PARTS names the parts of fio's suite. Logs stay in OUT.
set -u
here=$(dirname "$(realpath "$0")")
program=$(realpath -s "$(command -v "${WITH:-$1}")"); out=$2
rm -rf "$out"; mkdir -p "$out/bin"; out=$(realpath "$out")
for name in dd fio busybox; do ln -s "$program" "$out/bin/$name"; done

fio() { "$here/fio.sh" "$FIO_SRC" "$out/bin/fio" "$out/fio" ${FIO_PARTS:-}; }
coreutils() { "$here/coreutils.sh" "$COREUTILS_SRC" "$out/bin/dd" "$out/coreutils"; }
uutils() { "$here/uutils.sh" "$UUTILS_SRC" "$out/bin/dd" "$out/uutils"; }
toybox() { "$here/toybox.sh" "$TOYBOX_SRC" "$out/bin/dd" "$out/toybox"; }
busybox() { "$here/busybox.sh" "$BUSYBOX_SRC" "$out/bin/busybox" "$out/busybox"; }

table=$(printf '%-10s %6s %6s %6s %7s' suite passed known failed skipped)
bad=0
for suite in coreutils uutils toybox busybox fio; do
  variable=${suite^^}_SRC; tree=${!variable:-}
  if [ ! -d "$tree" ]; then
    table+=$(printf '\n%-10s left out: %s is %s' "$suite" "$variable" "${tree:-not set}")
    [ -z "$tree" ] || { table+=', and no folder'; bad=1; }
    continue
  fi
  echo "== $suite"
  mkdir -p "$out/$suite"
  # Each prints "PASS NAME", "FAIL NAME" or "SKIP NAME".
  $suite | tee "$out/$suite/results"
  passed=0 known=0 failed=0 skipped=0
  while read -r result name; do
    case $result in
      PASS) passed=$((passed + 1)) ;;
      SKIP) skipped=$((skipped + 1)) ;;
      *) if awk -v suite="$suite" -v name="$name" '$1 == suite && index($0, suite " " name ": ") == 1 { found = 1 } END { exit !found }' "$here/known.txt"
         then known=$((known + 1)); else failed=$((failed + 1)); bad=1; echo "fails: $suite $name"; fi ;;
    esac
  done < <(grep -E '^(PASS|FAIL|SKIP) ' "$out/$suite/results")
  [ $((passed + known + failed)) -gt 0 ] || bad=1
  table+=$(printf '\n%-10s %6d %6d %6d %7d' "$suite" $passed $known $failed $skipped)
done
echo "$table"
exit $bad
