#!/usr/bin/env bash
# deb.sh NAME...: $DIST/assay_VERSION_ARCH.deb of each target's program, and lintian's opinion. The same program
# gives the same package.
set -euo pipefail
. "$(dirname "$0")/common.sh"

need dpkg-deb dpkg
need lintian lintian
: "${SOURCE_DATE_EPOCH:?the time of the commit}"
export SOURCE_DATE_EPOCH
MAINTAINER=${MAINTAINER:-$(git log -1 --format='%an <%ae>' 2>/dev/null || true)}
[ -n "$MAINTAINER" ] || die "MAINTAINER='Name <address>' is missing, and there is no commit that has one"

for name in "$@"; do
	arch=$(field "$name" 2)
	root=$(mktemp -d "$DIST/deb.XXXXXX")
	trap 'rm -rf "$root"' EXIT
	docs=$root/usr/share/doc/assay
	install -D -m 755 "$DIST/assay-$name-linux" "$root/usr/bin/assay"
	install -d "$root/usr/share/man/man1" "$docs" "$root/usr/share/lintian/overrides" "$root/DEBIAN"
	gzip -9n <"$DIST/assay.1" >"$root/usr/share/man/man1/assay.1.gz"
	install -D -m 644 "$DIST/completions/assay.bash" "$root/usr/share/bash-completion/completions/assay"
	install -D -m 644 "$DIST/completions/_assay" "$root/usr/share/zsh/vendor-completions/_assay"
	install -D -m 644 "$DIST/completions/assay.fish" "$root/usr/share/fish/vendor_completions.d/assay.fish"
	gzip -9n <"$DIST/LICENCES.txt" >"$docs/LICENCES.txt.gz"
	gzip -9n <"$DIST/assay.cdx.json" >"$docs/assay.cdx.json.gz"
	gzip -9n <CHANGELOG.md >"$docs/changelog.gz"
	{
		printf 'assay (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n' "$VERSION-1"
		printf ' -- %s  %s\n' "$MAINTAINER" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
	} | gzip -9n >"$docs/changelog.Debian.gz"
	{
		printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'
		printf 'Upstream-Name: assay\n\nFiles: *\nCopyright: %s the authors of assay\nLicense: Expat or Apache-2.0\n' \
			"$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y)"
		printf 'Comment:\n What is linked into the program is listed in LICENCES.txt.gz beside this file.\n'
		printf '\nLicense: Expat\n'
		sed -e '/^MIT License/d; /^Copyright/d; s/^$/./; s/^/ /' LICENSE-MIT | sed '1{/^ \.$/d}'
		printf '\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
	} >"$docs/copyright"
	# It runs on any system and needs nothing of it: that is what it is static for. And no bug of Debian asks
	# for it.
	printf 'assay: %s\n' 'statically-linked-binary [usr/bin/assay]' initial-upload-closes-no-bugs \
		>"$root/usr/share/lintian/overrides/assay"
	chmod 644 "$docs"/* "$root/usr/share/lintian/overrides/assay" "$root/usr/share/man/man1/"*
	cat >"$root/DEBIAN/control" <<-CONTROL
		Package: assay
		Version: $VERSION-1
		Architecture: $arch
		Maintainer: $MAINTAINER
		Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
		Section: utils
		Priority: optional
		Description: storage benchmark that can be believed
		 assay measures disks, cards and file systems, and says of every number whether
		 it can be believed: it compares what the program moved with what the kernel
		 counted at the lowest device while the clock ran.
		 .
		 It speaks dd, Bonnie++, IOzone, fio and ATTO, and has verbs of its own. It is
		 one static program that needs nothing of the system.
	CONTROL
	(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
	find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	find "$root" -type d -exec chmod 755 {} +
	package=$DIST/assay_$VERSION-1_$arch.deb
	dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
	rm -rf "$root"
	lintian --allow-root --fail-on error,warning "$package" >&2 ||
		die "lintian does not like $package"
	say "$package: lintian has nothing against it"
done
