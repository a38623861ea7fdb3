#!/usr/bin/env bash
# twice.sh [NAME...]: builds the program of each target (aarch64 when none is named) a second time, from a clone of
# the commit in another folder with nothing built in it, and compares the bytes with what 'make dist' made.
set -euo pipefail
. "$(dirname "$0")/common.sh"

names=("$@")
[ $# -gt 0 ] || names=(aarch64)
need git git
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "there are changes that are not committed"
again=$(mktemp -d "${TMPDIR:-/tmp}/assay-again.XXXXXX")
trap 'rm -rf "$again"' EXIT
git clone -q --no-hardlinks "$SOURCES" "$again/of-another-name"
git -C "$again/of-another-name" checkout -q --detach "$(git rev-parse HEAD)"
# The tools are the same ones; what they made is not.
mkdir -p "$again/dist"
cp -r "$DIST/tools" "$again/dist/"
DIST=$again/dist "$again/of-another-name/packaging/build.sh" "${names[@]}"
for name in "${names[@]}"; do
	cmp "$DIST/assay-$name-linux" "$again/dist/assay-$name-linux" ||
		die "$name: the second build differs from the first; keep both and compare them with diffoscope"
	say "$name: the same $(stat -c %s "$DIST/assay-$name-linux") bytes," \
		"SHA-256 $(sha256sum "$DIST/assay-$name-linux" | cut -c1-64)"
done
