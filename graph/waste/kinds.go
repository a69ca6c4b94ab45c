package waste

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
)

// Thresholds of waste.
const (
	SparseShare = 2  // an array of references is sparse if at least one element in SparseShare is null
	TailShare   = 2  // an array of values has a tail of zeros if that is at least one part in TailShare of it,
	TailBytes   = 64 // and has at least TailBytes
	SameBytes   = 16 // an array of equal values counts if it has at least SameBytes
	FillShare   = 2  // a collection is underfilled if at most one place in FillShare is used
)

// A kind is a way to waste memory.
type kind uint8

const (
	strings kind = iota
	sparse
	zeros
	constant
	tails
	emptyArrays
	emptyCollections
	underfilled
	boxes
	zeroObjects
	kinds
)

var kindNames = [kinds]string{answer.WasteStrings, answer.WasteSparse, answer.WasteZeros, answer.WasteConstant, answer.WasteTails,
	answer.WasteEmptyArrays, answer.WasteEmptyCollections, answer.WasteUnderfilled, answer.WasteBoxes, answer.WasteZeroObjects}

// Kinds returns the names of the kinds of waste, as in package answer.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// wanted returns the kinds with the names, all if there are none.
func wanted(names []string) (w [kinds]bool) {
	for k := range w {
		w[k] = len(names) == 0 || slices.Contains(names, kindNames[k])
	}
	return w
}
