package waste

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
)

// What counts as waste.
const (
	SparseShare = 2  // an array of references is sparse if at least one in so many elements is null
	TailShare   = 2  // an array of values has a tail of zeros if that is at least one part in so many of it,
	TailBytes   = 64 // and has at least so many bytes
	SameBytes   = 16 // an array of equal values counts from so many bytes on
	FillShare   = 2  // a collection is underfilled if its elements are at most one part in so many of those it has room for
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

// Kinds are the names of the kinds of waste, those of package answer.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// wanted are the kinds with some names; all where there is none.
func wanted(names []string) (w [kinds]bool) {
	for k := range w {
		w[k] = len(names) == 0 || slices.Contains(names, kindNames[k])
	}
	return w
}
