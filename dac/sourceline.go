package dac

import (
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A SourceLine is a place in a source file.
type SourceLine struct {
	File         string // as the compiler recorded it
	Line, Column int    // from 1
	EndLine      int
	EndColumn    int
}

// SourceLine returns the place in the source of the instruction at info.Offset. For a return address the caller
// must subtract one, since the call precedes it. It returns target.ErrUnsupported for code without a place:
// hidden by the compiler, or without a map to IL.
func (r *CodeReader) SourceLine(info CodeInfo) (SourceLine, error) {
	if info.Method == nil {
		return SourceLine{}, target.Unsupportedf("a stub has no source")
	}
	if info.Method.Token.IsNil() {
		return SourceLine{}, target.Unsupportedf("the method has no source")
	}
	il, ok, err := r.ILOffset(info)
	if err != nil {
		return SourceLine{}, err
	}
	if !ok {
		return SourceLine{}, target.Unsupportedf("the instruction has no place in the source")
	}
	return r.SourceLineOfIL(info.Method, il)
}

// SourceLineOfIL returns the place in the source of m's instruction at an IL offset.
func (r *CodeReader) SourceLineOfIL(m *MethodDesc, il int) (SourceLine, error) {
	return sourceLine(m, func(best, p metadata.SequencePoint) (metadata.SequencePoint, bool) {
		if int64(p.ILOffset) > int64(il) {
			return best, false
		}
		return p, true
	})
}

// FirstLine returns the first place in the source with code of m.
func (r *CodeReader) FirstLine(m *MethodDesc) (SourceLine, error) {
	return sourceLine(m, func(_, p metadata.SequencePoint) (metadata.SequencePoint, bool) { return p, p.Hidden })
}

// sourceLine calls choose for the sequence points of m, with the last visible point chosen, until choose
// returns more=false.
func sourceLine(m *MethodDesc, choose func(best, p metadata.SequencePoint) (chosen metadata.SequencePoint, more bool)) (SourceLine, error) {
	mod, err := m.Module()
	if err != nil {
		return SourceLine{}, err
	}
	pdb, err := mod.PDB()
	if err != nil {
		return SourceLine{}, err
	}
	var best metadata.SequencePoint
	for p, err := range pdb.Metadata.SequencePoints(m.Token.Row()) {
		if err != nil {
			return SourceLine{}, err
		}
		chosen, more := choose(best, p)
		if !chosen.Hidden {
			best = chosen
		}
		if !more {
			break
		}
	}
	if best.StartLine == 0 {
		return SourceLine{}, target.Unsupportedf("the instruction has no place in the source")
	}
	file, err := pdb.Metadata.DocumentName(best.Document.Row())
	return SourceLine{file, int(best.StartLine), int(best.StartColumn), int(best.EndLine), int(best.EndColumn)}, err
}
