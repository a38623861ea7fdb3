#!/usr/bin/env bash
# dist.sh [NAME...]: everything that is given away, for each target or those that are named, in $DIST (target/dist):
#
#   assay-NAME-linux                  the static program
#   assay-VERSION-NAME-linux.tar.gz   the same with man page, completions, licences
#   assay_VERSION-1_ARCH.deb          the same as a Debian package
#   assay.1, completions/             made by the program itself
#   LICENCES.txt, assay.cdx.json      all crates and their licences; the same as an SBOM (CycloneDX)
#   oci/                              the programs under the names that an image is made from (Containerfile)
#   SHA256SUMS
#
# Each program is run before it is packed (smoke.sh). Nothing of the time or the place of the build goes in (twice.sh compares two).
set -euo pipefail
. "$(dirname "$0")/common.sh"

names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(awk 'NF { print $1 }' <<<"$TARGETS")
need file file
need git git
# The time of the commit stands for the time of the build.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)}
umask 022

packaging/build.sh "${names[@]}"
packaging/smoke.sh "${names[@]}"

say "man page, completions, licences, SBOM"
first=${names[0]}
emulator=$(runner "$first")
RUN=(${emulator:+"$emulator"} "$DIST/assay-$first-linux")
mkdir -p "$DIST/completions"
"${RUN[@]}" man >"$DIST/assay.1"
"${RUN[@]}" completions bash >"$DIST/completions/assay.bash"
"${RUN[@]}" completions zsh >"$DIST/completions/_assay"
"${RUN[@]}" completions fish >"$DIST/completions/assay.fish"
targets=()
for name in "${names[@]}"; do targets+=("$(field "$name" 3)"); done
MUSL_VERSION=$(sed -n 's/.*VERSION "\(.*\)".*/\1/p' \
	"$DIST"/tools/lib/python3*/site-packages/ziglang/lib/libc/musl/src/internal/version.h)
export MUSL_VERSION
packaging/crates.py licences "${targets[@]}" >"$DIST/LICENCES.txt"
packaging/crates.py sbom "${targets[@]}" >"$DIST/assay.cdx.json"

packaging/deb.sh "${names[@]}"
for name in "${names[@]}"; do
	folder=assay-$VERSION-$name-linux
	rm -rf "${DIST:?}/$folder"
	mkdir "$DIST/$folder"
	cp "$DIST/assay-$name-linux" "$DIST/$folder/assay"
	cp -r "$DIST/assay.1" "$DIST/completions" "$DIST/LICENCES.txt" "$DIST/assay.cdx.json" "$DIST/$folder/"
	cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$DIST/$folder/"
	chmod -R u=rwX,go=rX "$DIST/$folder"
	tar -C "$DIST" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$folder" |
		gzip -9n >"$DIST/$folder.tar.gz"
	rm -rf "${DIST:?}/$folder"
done

rm -rf "$DIST/oci"
mkdir "$DIST/oci"
for name in "${names[@]}"; do ln "$DIST/assay-$name-linux" "$DIST/oci/assay-$(field "$name" 5)"; done

cd "$DIST"
files=(LICENCES.txt assay.1 assay.cdx.json)
for name in "${names[@]}"; do
	files+=("assay-$name-linux" "assay-$VERSION-$name-linux.tar.gz" "assay_$VERSION-1_$(field "$name" 2).deb")
done
sha256sum "${files[@]}" >SHA256SUMS
sha256sum --quiet -c SHA256SUMS
say "made in $DIST:"
cat SHA256SUMS
