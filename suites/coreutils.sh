#!/bin/bash
# coreutils.sh TREE DD OUT [TEST...]: tests/dd of a coreutils tree against DD, which stands as "dd" beside links to the system's own
# programs. gnulib's tests/init.sh is taken from the tree, from its submodule, or from GNULIB_SRC.
set -u
tree=$(realpath "$1"); dd=$(realpath -s "$2"); mkdir -p "$3"; out=$(realpath "$3"); shift 3
b=$out/build; src=$out/tree
rm -rf "$b" "$src"; mkdir -p "$b/src" "$b/tests/dd" "$src"
cp -r "$tree/tests" "$tree/init.cfg" "$src/"
for init in "$tree/tests/init.sh" "$tree/gnulib/tests/init.sh" "${GNULIB_SRC:-/nowhere}/tests/init.sh"; do
  [ -f "$src/tests/init.sh" ] || cp "$init" "$src/tests/" 2>/dev/null
done
[ -f "$src/tests/init.sh" ] || { echo "FAIL init.sh (it is gnulib's: git submodule update --init gnulib, or GNULIB_SRC=TREE)"; exit 1; }
ln -s "$dd" "$b/src/dd"
ln -s "$(type -P test)" "$b/src/test"
cat > "$b/src/getlimits" <<'PY'
#!/usr/bin/env python3
import errno, os, shlex
for n, bits, signed in [('CHAR',8,1),('SCHAR',8,1),('UCHAR',8,0),('SHRT',16,1),('INT',32,1),('UINT',32,0),
                        ('LONG',64,1),('ULONG',64,0),('SIZE',64,0),('SSIZE',64,1),('TIME_T',64,1),('UID_T',32,0),
                        ('GID_T',32,0),('PID_T',32,1),('OFF_T',64,1),('OFF64_T',64,1),('INTMAX',64,1),('UINTMAX',64,0)]:
    top = (1 << (bits - signed)) - 1
    print(f'{n}_MAX={top}'); print(f'{n}_OFLOW={top + 1}')
    if signed:
        print(f'{n}_MIN={-top - 1}'); print(f'{n}_UFLOW={-top - 2}')
print('SIGRTMIN=34'); print('SIGRTMAX=64'); print('IO_BUFSIZE=262144')
for k, v in errno.errorcode.items():
    print(f'{v}={shlex.quote(os.strerror(k))}')
PY
chmod +x "$b/src/getlimits"
cd "$b" || exit 2
[ $# -gt 0 ] || set -- $(cd "$src/tests/dd" && ls)
export srcdir="$src" top_srcdir="$src" abs_srcdir="$src" abs_top_srcdir="$src" abs_top_builddir="$b" fail=0 CC=gcc AWK=awk EXEEXT= \
  built_programs="dd printf getlimits test cat stat" PACKAGE_VERSION=9 VERSION=9 PERL=perl SHELL=/bin/sh host_os=linux-gnu VERBOSE=no \
  LC_ALL=C TMPDIR=/tmp/ CONFIG_HEADER=/dev/null
for t in "$@"; do
  export CU_TEST_NAME="coreutils,dd-$t"
  file=tests/dd/$t
  [ "${t##*.}" = sh ] && cmd=(bash "$src/$file") || cmd=(perl -w "-I$src/tests" -MCuSkip -MCoreutils "-MCuTmpdir qw($file)" "$src/$file")
  ( PATH="$b/src:$PATH" timeout 300 "${cmd[@]}" ) > "$out/${t%.*}.log" 2>&1 9>&1 < /dev/null
  case $? in 0) echo "PASS $t";; 77) echo "SKIP $t";; *) echo "FAIL $t";; esac
done
