package ilflow

import (
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/metadata"
)

// Loops are loops of a method: the IL offsets behind their last jumps back, by the offsets at which they start.
type Loops map[int]int

// All returns the loops of il.
func All(il []byte) (Loops, error) {
	loops := Loops{}
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return nil, err
		}
		if isBranch(&in) && in.Target() <= in.Offset {
			loops[in.Target()] = in.Offset + in.Size // the last jump to a start ends the loop
		}
	}
	return loops, nil
}

// Around returns the loops of il around an offset.
func Around(il []byte, at int) (Loops, error) {
	loops, err := All(il)
	maps.DeleteFunc(loops, func(start, end int) bool { return at < start || at >= end })
	return loops, err
}

// Behind reports whether a loop of il around an offset begins behind another offset.
func Behind(il []byte, at, entered int) bool {
	loops, err := Around(il, at)
	return err != nil || loops.Since(entered)
}

// Since reports whether one of the loops begins behind an offset, or whether there is one where that is 0.
func (l Loops) Since(entered int) bool {
	for start := range l {
		if entered == 0 || start > entered {
			return true
		}
	}
	return false
}

// End reports whether each of the loops of il ends by itself: it is counted or computes.
func (l Loops) End(il []byte) bool {
	for start, end := range l {
		if one := (Loops{start: end}); !counted(il, one) && !computing(il, one) {
			return false
		}
	}
	return true
}

// withoutNops returns the instructions of il but those that do nothing.
func withoutNops(il []byte) ([]metadata.Instruction, error) {
	code, err := instructions(il)
	return slices.DeleteFunc(code, func(in metadata.Instruction) bool { return in.Opcode.String() == "nop" }), err
}

func isBranch(in *metadata.Instruction) bool {
	return in.Kind == metadata.OperandBranch8 || in.Kind == metadata.OperandBranch32
}

// leaves reports whether an instruction can leave a loop and is no branch.
func leaves(name string) bool {
	switch name {
	case "calli", "jmp", "ret", "switch":
		return true
	}
	return strings.HasPrefix(name, "leave") || strings.HasSuffix(name, "throw") || strings.HasPrefix(name, "endf")
}

func isCall(in *metadata.Instruction) bool {
	name := in.Opcode.String()
	return name == "call" || name == "callvirt" || name == "newobj"
}
