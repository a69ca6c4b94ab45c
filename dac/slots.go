package dac

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sosgo/sosgo/answer"
)

// SOS's words for the origins of a method's code.
const (
	originJIT     = "JIT"
	originPreJIT  = "PreJIT"
	originRuntime = "FCALL"
	originNone    = "NONE"
)

// DescribeMethods lists the methods of a type in SOS's order: the runtime's since .NET 9, by slots before. It
// notes missing parts in g.
func (r *CodeReader) DescribeMethods(mt *MethodTable, g *answer.Gaps) []answer.MethodSlot {
	slots, err := r.MethodSlots(mt)
	g.Note(err)
	if !r.Runtime().CanonicalForClass() {
		slices.SortStableFunc(slots, func(a, b MethodSlot) int { return cmp.Compare(a.Slot, b.Slot) })
	}
	out := make([]answer.MethodSlot, len(slots))
	for i, s := range slots {
		out[i] = answer.MethodSlot{Entry: s.Entry, MethodDesc: s.Method.Addr, Slot: s.Slot,
			Code: g.Text(r.origin(s.Method)), Name: answer.Of(r.MethodName(s.Method, MethodFull))}
		g.Note(out[i].Name.Err())
	}
	return out
}

// origin returns the origin of m's code.
func (r *CodeReader) origin(m *MethodDesc) (string, error) {
	entry, err := r.NativeCode(m)
	if err != nil {
		return "", err
	}
	if entry != 0 {
		switch kind, err := r.KindAt(entry); {
		case errors.Is(err, ErrNoCode) || err == nil && kind == CodeStub: // not the code of a method
		case err != nil:
			return "", err
		case kind == CodeReadyToRun:
			return originPreJIT, nil
		default:
			return originJIT, nil
		}
	}
	if r.hasRuntimeCode(m, entry) {
		return originRuntime, nil
	}
	return originNone, nil
}
