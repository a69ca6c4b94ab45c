package dac

import (
	"errors"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Proofs of a MethodDesc.
var (
	listedChunk = Proof{Strength: Listed, By: "the methods of its type's class"}
	listedToken = Proof{Strength: Listed, By: "the methods of its module"}
	ofItsType   = Proof{Strength: Consistent, By: "its chunk and its type"}
)

// prove finds the proof of the method m of chunk c. A contradiction is an error.
func (r *CodeReader) prove(c *chunk, m *MethodDesc) (Proof, error) {
	if c.typErr != nil {
		return Proof{Missing: c.typErr}, nil
	}
	if listed, err := r.tokenLeadsTo(c.typ, m); listed || err != nil {
		return listedToken, err
	}
	if m.Kind == MethodInstantiated || m.Kind == MethodDynamic {
		if c.hole != nil {
			return Proof{Missing: c.hole}, nil
		}
		// Each is alone in a chunk that is not in a class's list (genmeth.cpp,
		// InstantiatedMethodDesc::NewInstantiatedMethodDesc; dynamicmethod.cpp).
		return ofItsType, nil
	}
	listed, err := r.chunkIsListed(c)
	switch {
	case listed && c.hole != nil:
		return ofItsType, nil
	case listed:
		return listedChunk, nil
	case err == nil:
		return Proof{}, target.Corruptf("its type's class does not list chunk %016x", uint64(c.addr))
	case !errors.Is(err, target.ErrNotInDump):
		return Proof{}, err
	}
	return Proof{Missing: err}, nil
}

// tokenLeadsTo reports whether the module's map of methods leads from m's token to m. It does for all methods
// except methods of generic instances and methods without metadata. It returns target.ErrCorrupt if the
// metadata lacks the token.
func (r *CodeReader) tokenLeadsTo(mt *MethodTable, m *MethodDesc) (bool, error) {
	if m.Token.IsNil() || m.Token.Row() == 0 {
		return false, nil
	}
	mod, err := r.Runtime().ModuleOf(mt)
	if err != nil {
		return false, nil // the type has its own proof
	}
	if !mod.mayHave(m.Token) {
		return false, target.Corruptf("%v is not a method of its module", m.Token)
	}
	if md, err := mod.Metadata(); err == nil && !mod.editable() {
		if owner, err := md.MethodOwner(m.Token.Row()); err == nil && owner != mt.Token.Row() {
			return false, target.Corruptf("%v is not a method of its type", m.Token)
		}
	}
	at, err := mod.Lookup(MapMethodDef, m.Token.Row())
	return err == nil && at == m.Addr, nil
}

// chunkIsListed reports whether the chunk is in the list of its type's class.
func (r *CodeReader) chunkIsListed(c *chunk) (bool, error) {
	class, err := r.Runtime().EEClass(c.typ)
	if err != nil {
		return false, err
	}
	at := class.MethodDescChunk
	for range limits.MethodChunks {
		if at == 0 || at == c.addr {
			return at != 0, nil
		}
		next, err := r.ptr(at, c.layout.Chunk.Next, "MethodDescChunk.Next")
		if err != nil {
			return false, err
		}
		at = next
	}
	return false, target.Corruptf("the list of chunks has no end")
}
