package heap

import (
	"errors"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/addrmap"
	"github.com/sosgo/sosgo/target"
)

// A typeSource looks MethodTables up. *dac.Runtime is one.
type typeSource interface {
	// MethodTable proves that a holds a MethodTable.
	MethodTable(a target.Addr) (*dac.MethodTable, error)
	// TrustedMethodTable does without a proof that the dump lacks.
	TrustedMethodTable(a target.Addr) (*dac.MethodTable, error)
}

// typeInfo is what the walk needs of a MethodTable, kept small and close: a
// heap has few types and many objects.
type typeInfo struct {
	addr   target.Addr
	mt     *dac.MethodTable
	base   uint32
	comp   uint32
	id     uint32 // index in the typeTable
	free   bool
	proven bool
}

// What the size of a type can be: at least header and MethodTable (a string
// has 22), and less than what the runtime's loader allows for fields.
const (
	minBaseSize   = 16
	maxBaseSize   = 1 << 27
	minObjectSize = 24
)

// A typeTable numbers the types that walks have met. The numbers depend on
// which walk came first, so that no result may show them. Its methods are safe
// for concurrent use.
type typeTable struct {
	src  typeSource
	free target.Addr

	byAddr addrmap.Map[typeInfo]
	mu     sync.RWMutex // of byID
	byID   []*typeInfo
}

func newTypeTable(src typeSource, free target.Addr) *typeTable {
	return &typeTable{src: src, free: free}
}

// lookup returns the type at a.
func (t *typeTable) lookup(a target.Addr) (*typeInfo, error) {
	if info := t.byAddr.Get(a); info != nil {
		return info, nil
	}
	// The heap's own types: where a heap is in the dump so are their classes,
	// but a hole in them does not make the object corrupt.
	mt, err := t.src.MethodTable(a)
	proven := err == nil
	if errors.Is(err, target.ErrNotInDump) {
		mt, err = t.src.TrustedMethodTable(a)
	}
	if err != nil {
		return nil, err
	}
	if mt.BaseSize < minBaseSize || mt.BaseSize > maxBaseSize {
		return nil, target.Corruptf("type %016x has a base size of %#x", uint64(a), mt.BaseSize)
	}
	return t.add(mt, proven), nil
}

func (t *typeTable) add(mt *dac.MethodTable, proven bool) *typeInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	if info := t.byAddr.Get(mt.Addr); info != nil {
		return info
	}
	info := t.byAddr.Add(mt.Addr, typeInfo{
		addr: mt.Addr, mt: mt, base: mt.BaseSize, comp: uint32(mt.ComponentSize),
		id: uint32(len(t.byID)), free: mt.Addr == t.free, proven: proven,
	})
	t.byID = append(t.byID, info)
	return info
}

// get returns the type with a number that a walk has seen.
func (t *typeTable) get(id uint32) *typeInfo {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}
