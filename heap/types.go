package heap

import (
	"errors"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/addrmap"
	"github.com/sosgo/sosgo/target"
)

// A typeSource looks up MethodTables, as *dac.Runtime does.
type typeSource interface {
	// MethodTable proves that a is a MethodTable.
	MethodTable(a target.Addr) (*dac.MethodTable, error)
	// TrustedMethodTable accepts a MethodTable without its proof in the dump.
	TrustedMethodTable(a target.Addr) (*dac.MethodTable, error)
}

// A typeInfo holds the parts of a MethodTable that a walk needs, in a compact form: a heap has few types and
// many objects.
type typeInfo struct {
	addr   target.Addr
	mt     *dac.MethodTable
	base   uint32
	comp   uint32
	id     uint32 // index in the typeTable
	free   bool
	proven bool
}

// Limits of a type's size: at least header and MethodTable (a string has 22), and below the loader's limit for fields.
const (
	minBaseSize   = 16
	maxBaseSize   = 1 << 27
	minObjectSize = 24
)

// A typeTable numbers the types that walks meet. The numbers depend on which walk came first, so results must
// not show them. Its methods are safe for concurrent use.
type typeTable struct {
	src  typeSource
	free target.Addr

	byAddr addrmap.Map[typeInfo]
	mu     sync.RWMutex // guards byID
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
	// A dump with the heap also has the types' classes, but a hole in these does not make an object corrupt.
	mt, err := t.src.MethodTable(a)
	proven := err == nil
	if errors.Is(err, target.ErrNotInDump) {
		mt, err = t.src.TrustedMethodTable(a)
	}
	if err != nil {
		return nil, target.InHeap(err)
	}
	if mt.BaseSize < minBaseSize || mt.BaseSize > maxBaseSize {
		return nil, target.CorruptHeapf("type %016x has a base size of %#x", uint64(a), mt.BaseSize)
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

// get returns the type with a number that a walk has assigned.
func (t *typeTable) get(id uint32) *typeInfo {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if int(id) >= len(t.byID) {
		return nil
	}
	return t.byID[id]
}
