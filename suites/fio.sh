#!/bin/bash
# fio.sh TREE FIO OUT [PART...]: the scripts in t/ of a fio tree against FIO. Parts: jobs (run-fio-tests.py, the job files), and the
# scripts without .py. PYTHON names a python with scipy, numpy and statsmodels. verify takes half an hour.
tree=$(realpath "$1"); fio=$(realpath -s "$2"); mkdir -p "$3"; out=$(realpath "$3"); shift 3
py=${PYTHON:-python3}; export PATH="$(dirname "$(realpath -s "$(command -v "$py")")"):$PATH" ASSAY_SETTLE=no
part() { # NAME SECONDS COMMAND...
  local name=$1 seconds=$2; shift 2
  rm -rf "${out:?}/$name"; mkdir -p "$out/$name"; cd "$out/$name" || exit 2
  timeout -k 10 "$seconds" "$@" > "$out/$name.log" 2>&1 < /dev/null; local status=$?
  local lines; lines=$(sed -nE "s|^\**Test ([^ ]+) PASSED.*|PASS $name/\1|p; s|^\**Test ([^ ]+) SKIPPED.*|SKIP $name/\1|p; s|^\**Test ([^ ]+) FAILED.*|FAIL $name/\1|p" "$out/$name.log")
  # What says nothing of each test is one.
  [ -n "$lines" ] || lines=$([ $status = 0 ] && echo "PASS $name" || echo "FAIL $name")
  [ $status != 124 ] || lines+=$'\n'"FAIL $name/whole: not done in $seconds s"
  echo "$lines"
  find "$out/$name" -type f -size +1M ! -name '*.log' -delete
}
[ $# -gt 0 ] || set -- jobs readonly random_seed sequence log_compression jsonplus2csv_test strided verify_state_save \
  numberio_overlap sprandom verify-trim client_server latency_percentiles steadystate_tests t64-switch verify
# Some tests of verify name four CPUs, which fio refuses where they are not.
verify=$tree/t/verify.py
if [ "$(nproc)" -lt 4 ]; then
  rm -rf "$out/t"; cp -r "$tree/t" "$out/t"; verify=$out/t/verify.py
  sed -i "s/\"cpus_allowed\": \"0-3\"/\"cpus_allowed\": \"0-$(($(nproc) - 1))\"/" "$verify"
fi
for p in "$@"; do
  case $p in
    jobs) part $p 1500 "$py" "$tree/t/run-fio-tests.py" -r "$tree" -f "$fio" -a art -k -s 9 $(seq 1000 1030) ;;
    t64-switch) part $p 300 bash "$tree/t/t64-switch.sh" "$fio" 1000000 ;;
    steadystate_tests) part $p 600 "$py" "$tree/t/$p.py" "$fio" ;;
    jsonplus2csv_test|log_compression) part $p 120 "$py" "$tree/t/$p.py" -f "$fio" ;;
    verify) part $p "${VERIFY_S:-1800}" "$py" "$verify" -r "$tree" -f "$fio" -a art -k ;;
    verify-trim) part $p 900 "$py" "$tree/t/$p.py" -r "$tree" -f "$fio" -a art -k ;;
    numberio_overlap) part $p 900 "$py" "$tree/t/$p.py" -f "$fio" -a art -k ;;
    *) part $p 900 "$py" "$tree/t/$p.py" -f "$fio" -a art ;;
  esac
done
