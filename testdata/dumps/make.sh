#!/bin/bash
# Makes the canned dumps from an unpacked corpus.
#   make.sh CORPUS [NAME ...]        without names: all
# The bare ones are of a process that MAKE_DUMP runs (corpus/../tools/make-dump), and need gdb; without it they stay. So does the one of a
# single-file app, without MAKE_POCKET (corpus/../tools/make-pocket). Those of programs beside them need COMPILE (corpus/../tools/compile-debuggee), too.
set -eu
corpus=$(cd "$1" && pwd); shift
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
tools=$(mktemp -d)
tool=$tools/slicedump
go build -o "$tools" ./internal/test/tools/slicedump ./internal/test/tools/slicefacts
wanted=" $* "
make_dump=${MAKE_DUMP:-$corpus/../tools/make-dump}
make_pocket=${MAKE_POCKET:-$corpus/../tools/make-pocket}
compile=${COMPILE:-$corpus/../tools/compile-debuggee}

# slice NAME CASE [OPTION ...]
slice() {
  local name=$1 case=$2; shift 2
  [ "$wanted" = "  " ] || [[ "$wanted" = *" $name "* ]] || return 0
  "$tool" -out "$here" -name "$name" "$@" "$corpus/$case" && "$tools/slicefacts" -corpus "$corpus" "$here/$name"
}

# bare NAME FILTER WRITER: a core of the zoo with that coredump_filter, which the process inherits, as gdb (gcore) or the kernel
# (core) writes it.
bare() {
  local name=$1 filter=$2 writer=$3 case
  [ "$wanted" = "  " ] || [[ "$wanted" = *" $name "* ]] || return 0
  [ -x "$make_dump" ] || { echo "$name: MAKE_DUMP names no tool"; return 0; }
  case=$(mktemp -d "$corpus/bare.XXXXXX")
  (echo "$filter" >/proc/self/coredump_filter && exec "$make_dump" --kind "$writer" -o "$case/$name.dmp" zoo)
  cat >"$case/manifest.json" <<END
{ "name": "$name", "dump": "$name.dmp", "modules": "../modules/net10-linux", "os": "linux", "arch": "x64", "kind": "core",
  "runtime": "10.0.14", "scenario": "zoo", "environment": {}, "tool": "$writer, coredump_filter $filter",
  "facts": { "Debuggee.Program": "type", "root.Arrays": "Debuggee.Zoo.Arrays" } }
END
  "$tool" -bare -out "$here/bare" -name "$name" "$case"
  rm -r "$case"
}

# single NAME: a core that the kernel writes of a single-file app, whose assemblies are in the bundle alone.
single() {
  local name=$1 case=/app/pocket
  [ "$wanted" = "  " ] || [[ "$wanted" = *" $name "* ]] || return 0
  [ -x "$make_pocket" ] || { echo "$name: MAKE_POCKET names no tool"; return 0; }
  mkdir -p "$case/modules"
  "$make_pocket" --arch x64 --how core -o "$case/$name.dmp"
  mv "$case/$name.dmp.app" "$case/modules/Pocket"
  {
    printf '{ "name": "%s", "dump": "%s.dmp", "modules": "modules", "os": "linux", "arch": "x64", "kind": "core",' "$name" "$name"
    printf '"runtime": "10.0.9", "scenario": "single-file", "environment": { "DOTNET_EnableWriteXorExecute": "0" }, "tool": "kernel", "facts": {'
    sed -nE 's/^FACT (root[^ ]*|type [^ ]+) (0x.*)$/"\1": "\2",/p' "$case/$name.dmp.facts" | sed '$s/,$//'
    printf '} }'
  } >"$case/manifest.json"
  "$tool" -out "$here" -name "$name" "$case"
  rm -r "$case"
}

# program NAME FOLDER SOURCE [OPTION ...] -- ARGUMENT ...: a dump of the program SOURCE.cs in FOLDER/NAME, cut for the lines of commands.txt there. OPTIONs
# are make-dump's. What the program prints becomes facts.txt.
program() {
  local name=$1 at=$here/$2/$1 source=$3 case; shift 3
  [ "$wanted" = "  " ] || [[ "$wanted" = *" $name "* ]] || return 0
  [ -x "$make_dump" ] && [ -x "$compile" ] || { echo "$name: MAKE_DUMP or COMPILE names no tool"; return 0; }
  case=$(mktemp -d "$corpus/program.XXXXXX")
  "$compile" -o "$case/$source.dll" "$at/$source.cs"
  "$make_dump" --program "$case/$source.dll" -o "$case/$name.dmp" "$@"
  printf '{ "name": "%s", "dump": "%s.dmp", "modules": "../modules/net10-linux", "os": "linux", "arch": "x64", "kind": "withheap", "runtime": "10.0.14", "facts": {} }\n' \
    "$name" "$name" >"$case/manifest.json"
  "$tool" -out "$case/out" -name "$name" -lean -commands "$at/commands.txt" "$case"
  mv "$case/out/$name/$name.dmp.zst" "$at/"
  mv "$case/$name.dmp.facts" "$at/facts.txt"
  rm -r "$case"
}

slice net10-zoo net10-zoo-withheap
slice net10-zoo-noregions net10-zoo-noregions-withheap -lean
slice net10-zoo-servergc net10-zoo-servergc-withheap -lean
slice net10-stacks net10-stacks-withheap -lean
slice net10-async net10-async-withheap -lean
slice net10-crash-nested net10-crash-nested-withheap -lean
slice net10-crash-null-triage net10-crash-null-triage -lean
slice net9-zoo net9-zoo-withheap -lean
slice net8-zoo net8-zoo-withheap
slice net31-zoo net31-zoo-withheap -lean
slice sxs sxs-withheap -lean
slice nativeaot-crash nativeaot-crash-full
slice net10-arm64 arm64-net10-pocket -lean -commands "$here/net10-arm64/commands.txt"
slice win-net10-zoo win-net10-zoo-withheap -lean
slice win-net10-zoo-triage win-net10-zoo-triage -lean
slice win-net8-zoo win-net8-zoo-withheap -lean
slice win-net6-zoo win-net6-zoo-withheap -lean
single net10-single
slice web/web-net10 web-net10-withheap -lean -grain 512 -commands "$here/web/commands.txt"
bare net10-zoo-gcore 0x33 gcore
bare net10-zoo-g23 0x23 gcore
bare net10-zoo-kernel 0x33 core
program net10-apart secrets Apart --kind withheap --
program net10-kinds secrets Kinds --kind withheap --env SHOP_PASSWORD=mqt36PDF-442zr --env SHOP_API_KEY=vrp58HKL-297cf --env SHOP_SECRET=Gt6w -- \
  run --api-key=xbd47NQS-635kp --client-secret zsg29RVT-384mh --pwd Lk8d
