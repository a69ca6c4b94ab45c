package ilflow

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// Constant returns the number that an instruction loads.
func Constant(in *metadata.Instruction) (value int64, ok bool) {
	switch name := in.Opcode.String(); {
	case name == "ldc.i4.m1":
		return -1, true
	case name == "ldc.i4" || name == "ldc.i4.s":
		return in.Int(), true
	case strings.HasPrefix(name, "ldc.i4."):
		return int64(name[len(name)-1] - '0'), true
	}
	return 0, false
}

// ArgumentBehind returns the constant, a whole number, that code passes as the last argument of the first call at an offset or behind it.
func ArgumentBehind(il []byte, offset int) (value int64, known bool) {
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return 0, false
		}
		if in.Offset >= offset && isCall(&in) {
			return value, known
		}
		if name := in.Opcode.String(); name != "conv.i8" {
			value, known = Constant(&in)
			if f := in.Float(); name == "ldc.r8" && f == math.Trunc(f) && math.Abs(f) < math.MaxInt32 {
				value, known = int64(f), true
			}
		}
	}
	return 0, false
}

// stored reports whether one of the instructions stores to a variable.
func stored(code []metadata.Instruction, v Variable) bool {
	return slices.ContainsFunc(code, func(in metadata.Instruction) bool {
		to, verb, ok := accessed(&in)
		return ok && to == v && verb == "st"
	})
}

// A Variable is an argument or a local variable of a method.
type Variable struct {
	Argument bool
	Number   int64
}

// accessed returns the variable that an instruction loads, stores or takes the address of.
func accessed(in *metadata.Instruction) (v Variable, verb string, ok bool) {
	name := in.Opcode.String()
	if len(name) < 5 {
		return v, "", false
	}
	verb, rest := name[:2], name[2:]
	if v.Argument = strings.HasPrefix(rest, "arg"); !v.Argument && !strings.HasPrefix(rest, "loc") || rest == "localloc" || verb != "ld" && verb != "st" {
		return v, "", false
	}
	rest = rest[3:]
	if strings.HasPrefix(rest, "a") { // ldloca, ldarga
		verb = "lda"
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(rest, "."), 10, 64); err == nil {
		v.Number = n // ldloc.0
	} else {
		v.Number = in.Int()
	}
	return v, verb, true
}

func isStore(in *metadata.Instruction) bool {
	_, verb, ok := accessed(in)
	return ok && verb == "st"
}
