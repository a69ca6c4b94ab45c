#!/bin/bash
# Makes the canned dumps from an unpacked corpus.
#   make.sh CORPUS [NAME ...]        without names: all
set -eu
corpus=$(cd "$1" && pwd); shift
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
tool=$(mktemp -d)/slicedump
go build -o "$tool" ./internal/tools/slicedump
wanted=" $* "

# slice NAME CASE [OPTION ...]
slice() {
  local name=$1 case=$2; shift 2
  [ "$wanted" = "  " ] || [[ "$wanted" = *" $name "* ]] || return 0
  "$tool" -out "$here" -name "$name" "$@" "$corpus/$case"
}

slice net10-zoo net10-zoo-withheap
slice net10-zoo-noregions net10-zoo-noregions-withheap -lean
slice net10-zoo-servergc net10-zoo-servergc-withheap -lean
slice net10-stacks net10-stacks-withheap -lean
slice net10-crash-nested net10-crash-nested-withheap -lean
slice net10-crash-null-triage net10-crash-null-triage -lean
slice net9-zoo net9-zoo-withheap -lean
slice net8-zoo net8-zoo-withheap
slice net31-zoo net31-zoo-withheap -lean
slice sxs sxs-withheap -lean
slice nativeaot-crash nativeaot-crash-full -lean
slice win-net10-zoo win-net10-zoo-withheap -lean
slice win-net10-zoo-triage win-net10-zoo-triage -lean
slice win-net8-zoo win-net8-zoo-withheap -lean
slice win-net6-zoo win-net6-zoo-withheap -lean
