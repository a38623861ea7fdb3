#!/bin/bash
# uutils.sh TREE DD OUT: tests/by-util/test_dd.rs of a uutils tree, built with the feature dd alone, against DD. Its tests type
# "PROGRAM dd WORDS"; what stands between takes that word away, and no other.
tree=$(realpath "$1"); dd=$(realpath -s "$2"); mkdir -p "$3"; out=$(realpath "$3")
printf '#!/bin/bash\nshift; exec %q "$@"\n' "$dd" > "$out/by-name"; chmod +x "$out/by-name"
cd "$tree" || exit 2
program=$(CARGO_TARGET_DIR=${UUTILS_TARGET:-$out/target} CARGO_PROFILE_DEV_DEBUG=none cargo test --quiet --no-default-features --features dd --test tests \
  --no-run --message-format=json 2> "$out/build.log" | grep -a '"kind":\["test"\]' | grep -ao '"executable":"[^"]*"' | tail -1 | cut -d'"' -f4)
[ -x "$program" ] || { echo "FAIL build (see $out/build.log)"; exit 1; }
UUTESTS_BINARY_PATH="$out/by-name" timeout 600 "$program" --test-threads 2 test_dd > "$out/log" 2>&1 < /dev/null
sed -nE 's/^test (.*) \.\.\. ok$/PASS \1/p; s/^test (.*) \.\.\. FAILED$/FAIL \1/p; s/^test (.*) \.\.\. ignored.*$/SKIP \1/p' "$out/log"
