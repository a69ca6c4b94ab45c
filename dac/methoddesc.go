package dac

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A MethodKind is the kind of method that a MethodDesc describes (method.hpp, MethodClassification), with the
// runtime's numbers.
type MethodKind uint8

// The kinds.
const (
	MethodIL           MethodKind = iota // ordinary method with IL
	MethodFCall                          // implemented inside the runtime
	MethodPInvoke                        // of a native library
	MethodEEImpl                         // provided by the runtime: a delegate's Invoke
	MethodArray                          // Get, Set and others of an array type
	MethodInstantiated                   // generic method, or its instance
	MethodComInterop                     // call to a COM object
	MethodDynamic                        // without metadata: DynamicMethod or IL stub
)

func (k MethodKind) String() string {
	return [...]string{"IL", "FCall", "PInvoke", "EEImpl", "Array", "Instantiated", "ComInterop", "Dynamic"}[k&mdKindMask]
}

// Bits of MethodDesc::m_wFlags (method.hpp, MethodDescFlags). They are the same on 3.1 to 10; the bit for the
// native code slot differs and comes from the layout.
const (
	mdKindMask      = 0x0007
	mdNonVtableSlot = 0x0008 // the slot is in the MethodDesc
	mdMethodImpl    = 0x0010 // implements methods of other slots
	mdStatic        = 0x0080
)

// Sizes in bytes of the optional parts after a MethodDesc, in this order: a slot, a MethodImpl of two pointers,
// the native code slot (method.hpp).
const (
	mdSlotSize       = 8
	mdMethodImplSize = 16
)

// A MethodDesc describes a method at run time (method.hpp). Verified on 3.1, 6, 8, 9 and 10.
type MethodDesc struct {
	Addr        target.Addr
	Chunk       target.Addr // MethodDescChunk with the MethodDesc
	MethodTable target.Addr // canonical type that declares the method
	Kind        MethodKind
	Token       metadata.Token // row 0 for methods without metadata
	Slot        uint16
	Flags       uint16
	Flags2      uint8 // m_bFlags2; since 9 the flags of the entry point
	Size        int   // bytes, including optional parts

	// Proof is the reason to accept it as a MethodDesc.
	Proof Proof

	flags3 uint16
	r      *CodeReader
}

// IsStatic reports whether the method is static.
func (m *MethodDesc) IsStatic() bool { return m.Flags&mdStatic != 0 }

// MethodDesc returns the method with its MethodDesc at a, an address from any source. It requires proof: the
// method is in its chunk, the chunk is in the list of its type's class or the module's map leads back to the
// method, and the type is proved. The result is shared and must not be changed. It returns a
// *target.AddressError if a is not a MethodDesc, with a *dac.ForeignError for a MethodDesc of another runtime,
// and target.ErrNotInDump if the proof is not in the dump.
func (r *CodeReader) MethodDesc(a target.Addr) (*MethodDesc, error) {
	if _, err := r.members(); err != nil {
		return nil, fmt.Errorf("MethodDesc %016x: %w", uint64(a), err) // the layout is wrong, not the address
	}
	m, err := r.TrustedMethodDesc(a)
	if err != nil {
		return nil, target.WrongAddress(err)
	}
	if err := m.Proof.unproven(); err != nil {
		return nil, fmt.Errorf("MethodDesc %016x: %w", uint64(a), err)
	}
	return m, nil
}

// TrustedMethodDesc is MethodDesc for an address in the runtime's own structures. If the proof is not in the
// dump, it records that in the result's Proof and does not fail.
func (r *CodeReader) TrustedMethodDesc(a target.Addr) (*MethodDesc, error) {
	if m, ok := r.methods.Load(a); ok {
		return m.(*MethodDesc), nil
	}
	m, err := r.readMethodDesc(a)
	var foreign *ForeignError
	switch {
	case errors.As(err, &foreign):
		return nil, &ForeignError{Addr: a, What: "MethodDesc", Owner: foreign.Owner}
	case errors.Is(err, target.ErrCorrupt):
		if _, lerr := r.members(); lerr != nil {
			return nil, lerr // the layout is wrong, not the address
		}
		return nil, target.Corruptf("%016x is not a MethodDesc", uint64(a))
	case err != nil:
		return nil, fmt.Errorf("MethodDesc %016x: %w", uint64(a), err)
	}
	kept, _ := r.methods.LoadOrStore(a, m)
	return kept.(*MethodDesc), nil
}

func (r *CodeReader) readMethodDesc(a target.Addr) (*MethodDesc, error) {
	c, err := r.members()
	if err != nil {
		return nil, err
	}
	if a == 0 || a%8 != 0 {
		return nil, target.Corruptf("address")
	}
	index, err := target.Uint8(r.mem, a+target.Addr(c.MethodDesc.ChunkIndex))
	if err != nil {
		return nil, err
	}
	before := target.Addr(c.Chunk.HeaderSize + mdAlignment*int(index))
	if before > a {
		return nil, target.Corruptf("chunk index")
	}
	chunk, err := r.readChunk(c, a-before)
	if err != nil {
		return nil, err
	}
	m, err := chunk.find(a)
	if err != nil {
		return nil, err
	}
	m.Proof, err = r.prove(chunk, m)
	return m, err
}

// find decodes the method at a, which must be in the chunk. If methods before it are not in the dump, c.hole is
// the reason, and a may not be the start of a method.
func (c *chunk) find(a target.Addr) (*MethodDesc, error) {
	at := c.addr + target.Addr(c.layout.Chunk.HeaderSize)
	for range c.count {
		m, err := c.method(at)
		if errors.Is(err, target.ErrNotInDump) && at < a {
			c.hole = err
			return c.method(a)
		}
		if err != nil || at == a {
			return m, err
		}
		at += target.Addr(m.Size)
	}
	return nil, target.Corruptf("no method of chunk %016x begins at %016x", uint64(c.addr), uint64(a))
}

// mdAlignment is the unit of a chunk's size and index (MethodDesc::ALIGNMENT).
const mdAlignment = 8

// A chunk is a MethodDescChunk: some methods of one type.
type chunk struct {
	r          *CodeReader
	layout     *members
	addr       target.Addr
	mt, next   target.Addr
	typ        *MethodTable // nil if the proof that mt is a MethodTable is not in the dump
	typErr     error        // why typ is nil
	exact      bool         // the type is not canonical: only its instantiated methods and stubs belong to it
	count      int          // number of methods
	tokenRange uint16
	size       int    // bytes of all methods
	b          []byte // the methods, nil if a part is not in the dump
	hole       error  // set by find
}

// readChunk reads the chunk at a and checks its MethodTable.
func (r *CodeReader) readChunk(l *members, a target.Addr) (*chunk, error) {
	rd, o := layout.Reader{Mem: r.mem, Base: a}, &l.Chunk
	c := &chunk{r: r, layout: l, addr: a, mt: rd.Ptr(o.MethodTable), next: rd.Ptr(o.Next),
		count: int(rd.U8(o.Count)) + 1, tokenRange: rd.U16(o.TokenRange), size: mdAlignment * (int(rd.U8(o.Size)) + 1)}
	if rd.Err != nil {
		return nil, rd.Err
	}
	// Partial dumps have chunks without the class of their type.
	mt, _, err := r.Runtime().MethodTableAt(c.mt)
	err = target.CorruptAddress(err)
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		return nil, err
	}
	c.exact = err == nil && mt.Canonical != mt.Addr
	c.typ, c.typErr = mt, err
	if c.b, err = target.Bytes(r.mem, a+target.Addr(o.HeaderSize), c.size); errors.Is(err, target.ErrNotInDump) {
		c.b, err = nil, nil
	}
	return c, err
}

// head returns the structure of the method at offset off, without its optional parts.
func (c *chunk) head(off int) ([]byte, error) {
	n := c.layout.baseSizes[MethodIL]
	if c.b != nil {
		return c.b[off : off+n], nil
	}
	return target.Bytes(c.r.mem, c.addr+target.Addr(c.layout.Chunk.HeaderSize+off), n)
}

// method decodes the method at a, which must be in the chunk.
func (c *chunk) method(a target.Addr) (*MethodDesc, error) {
	o := &c.layout.MethodDesc
	start := c.addr + target.Addr(c.layout.Chunk.HeaderSize)
	off := int(a - start)
	if a < start || off > c.size-c.layout.baseSizes[MethodIL] {
		return nil, target.Corruptf("method %016x outside of chunk %016x", uint64(a), uint64(c.addr))
	}
	b, err := c.head(off)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	m := &MethodDesc{
		Addr: a, Chunk: c.addr, MethodTable: c.mt, r: c.r,
		Slot: le.Uint16(b[o.Slot:]), Flags: le.Uint16(b[o.Flags:]), flags3: le.Uint16(b[o.Flags3:]),
	}
	if o.Flags2 != layout.Absent {
		m.Flags2 = b[o.Flags2]
	}
	m.Kind = MethodKind(m.Flags & mdKindMask)
	m.Token = c.token(m.flags3)
	m.Size = c.layout.size(m)
	if c.layout.baseSizes[m.Kind] == 0 || m.Size > c.size-off || int(b[o.ChunkIndex])*mdAlignment != off {
		return nil, target.Corruptf("method %016x: flags %#x, chunk index %d", uint64(a), m.Flags, b[o.ChunkIndex])
	}
	// The methods of shared code belong to the canonical type. A stub with a generic context of its own belongs to the type that it was made for (prestub.cpp,
	// CreateInstantiatingILStub).
	if c.exact && m.Kind != MethodInstantiated && m.Kind != MethodDynamic {
		return nil, target.Corruptf("method %016x of %016x, which is not canonical", uint64(a), uint64(c.mt))
	}
	return m, nil
}

// token returns a method's token from the parts in the chunk and in the method (method.hpp, GetMemberDef).
func (c *chunk) token(flags3 uint16) metadata.Token {
	bits := c.layout.tokenBits
	high := uint32(c.tokenRange) & (0xffffff >> bits) << bits
	return metadata.NewToken(metadata.TableMethodDef, high|uint32(flags3)&(1<<bits-1))
}

// size returns the size of m with its optional parts.
func (c *members) size(m *MethodDesc) int {
	n := c.baseSizes[m.Kind]
	if m.Flags&mdNonVtableSlot != 0 {
		n += mdSlotSize
	}
	if m.Flags&mdMethodImpl != 0 {
		n += mdMethodImplSize
	}
	if c.hasCodeSlot(m) {
		n += mdSlotSize
	}
	return n
}

func (c *members) hasCodeSlot(m *MethodDesc) bool {
	return c.nativeCodeSlot.isSet(m)
}

// errNoMethod is the error for a nil MethodDesc.
var errNoMethod = target.Unsupportedf("no method")

// Methods iterates over the methods that the type mt declares, in the order of its chunks. It yields an error
// for an unreadable part, which ends a chunk. For an instance of a generic type it yields the methods of its
// canonical type.
func (r *CodeReader) Methods(mt *MethodTable) iter.Seq2[*MethodDesc, error] {
	return func(yield func(*MethodDesc, error) bool) {
		fail := func(err error) { yield(nil, fmt.Errorf("methods of %016x: %w", uint64(mt.Addr), err)) }
		l, err := r.members()
		if err != nil {
			fail(err)
			return
		}
		class, err := r.Runtime().EEClass(mt)
		if err != nil {
			fail(err)
			return
		}
		at := class.MethodDescChunk
		for range limits.MethodChunks {
			if at == 0 {
				return
			}
			c, err := r.readChunk(l, at)
			if err == nil && c.mt != class.MethodTable {
				err = target.Corruptf("chunk %016x belongs to %016x", uint64(at), uint64(c.mt))
			}
			if err != nil {
				fail(err)
				return
			}
			if !c.each(yield) {
				return
			}
			at = c.next
		}
		fail(target.Corruptf("the list of chunks has no end"))
	}
}

// each yields the chunk's methods. It returns false to stop.
func (c *chunk) each(yield func(*MethodDesc, error) bool) bool {
	at := c.addr + target.Addr(c.layout.Chunk.HeaderSize)
	for range c.count {
		m, err := c.method(at)
		if err != nil {
			return yield(nil, err)
		}
		m.Proof = listedChunk
		kept, _ := c.r.methods.LoadOrStore(at, m)
		if !yield(kept.(*MethodDesc), nil) {
			return false
		}
		at += target.Addr(m.Size)
	}
	return true
}

// Module returns the module with the method's metadata.
func (m *MethodDesc) Module() (*Module, error) {
	if m == nil {
		return nil, errNoMethod
	}
	mt, err := m.r.Runtime().TrustedMethodTable(m.MethodTable)
	if err != nil {
		return nil, err
	}
	return m.r.Runtime().ModuleOf(mt)
}

// Metadata returns the metadata of the module that defines the method.
func (m *MethodDesc) Metadata() (*metadata.Metadata, error) {
	mod, err := m.Module()
	if err != nil {
		return nil, err
	}
	return mod.Metadata()
}

// def returns the method's row in the metadata.
func (m *MethodDesc) def() (*metadata.Metadata, metadata.MethodDefRow, error) {
	if m.Token.IsNil() {
		return nil, metadata.MethodDefRow{}, target.Unsupportedf("method %016x has no metadata", uint64(m.Addr))
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, metadata.MethodDefRow{}, err
	}
	row, err := md.MethodDef(m.Token.Row())
	return md, row, err
}

// optional returns the address of an optional part after the MethodDesc: slot, MethodImpl, or native code slot.
func (m *MethodDesc) optional(c *members, what uint16) target.Addr {
	at := m.Addr + target.Addr(c.baseSizes[m.Kind])
	if what == mdNonVtableSlot {
		return at
	}
	if m.Flags&mdNonVtableSlot != 0 {
		at += mdSlotSize
	}
	if what == mdMethodImpl {
		return at
	}
	if m.Flags&mdMethodImpl != 0 {
		at += mdMethodImplSize
	}
	return at
}

// TypeArguments returns the TypeHandles of a generic method's type arguments, or nil for a definition or a
// method that is not generic.
func (m *MethodDesc) TypeArguments() ([]target.Addr, error) {
	if m.Kind != MethodInstantiated {
		return nil, nil
	}
	c, err := m.r.members()
	if err != nil {
		return nil, err
	}
	o := &c.Instantiated
	rd := layout.Reader{Mem: m.r.mem, Base: m.Addr}
	dict, n, flags := rd.Ptr(o.PerInstInfo), int(rd.U16(o.NumArgs)), rd.U16(o.Flags2)
	if rd.Err != nil || n == 0 || dict == 0 || uint64(flags&imdKindMask) == c.genericDef {
		return nil, rd.Err
	}
	args, out := layout.Reader{Mem: m.r.mem, Base: dict}, []target.Addr(nil)
	for i := range n {
		out = append(out, args.Ptr(8*i))
		if args.Err != nil {
			return nil, args.Err
		}
	}
	return out, nil
}

// imdKindMask selects the kind of an InstantiatedMethodDesc in its m_wFlags2 (method.hpp).
const imdKindMask = 0x07
