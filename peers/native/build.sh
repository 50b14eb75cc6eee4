#!/bin/sh
# build.sh OUTPUT PREFIX: bindings to what is installed under PREFIX of HEXL, SEAL, OpenFHE and HElib, and in OUTPUT a program for each that
# speaks the protocol of peers/README.md. PYTHON names the interpreter.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
prefix=$(cd "$2" && pwd)
environment=$output/environment
"${PYTHON:-python3}" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
cmake -S "$here" -B "$output/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_RPATH="$prefix/lib" -DPYBIND11_FINDPYTHON=ON \
  -DPython_EXECUTABLE="$environment/bin/python" -Dpybind11_DIR="$("$environment/bin/python" -m pybind11 --cmakedir)"
cmake --build "$output/build" --parallel
version=$(sed -n 's/^Version: *//p' "$prefix"/lib*/pkgconfig/hexl.pc)
for name in hexl seal openfhe helib; do
  ls "$output/build/native_$name".* >/dev/null 2>&1 || continue
  case $name in
    hexl | helib) program=$output/$name ;;
    *) program=$output/$name-hexl ;;
  esac
  cat >"$program" <<EOF
#!/bin/sh
export SUNZI_PEER_VERSION='$version' SUNZI_PEER_FEATURES='${FEATURES:-built for this machine with HEXL $version}' PYTHONPATH='$output/build'
# Libraries of OpenFHE do not say where the others are.
export LD_LIBRARY_PATH='$prefix/lib'
exec '$environment/bin/python' -B '$here/../python/${name}_rival.py'
EOF
  chmod +x "$program"
  echo "$program"
done
