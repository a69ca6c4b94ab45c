package dac

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// ErrNoIL is the error for a method without an IL body: native, provided by the runtime, or abstract. It wraps
// target.ErrUnsupported.
var ErrNoIL = target.Unsupportedf("the method has no IL body")

// ErrILMissing is in the chain of errors about IL that neither the dump nor a module file has. It wraps target.ErrNotInDump.
var ErrILMissing = fmt.Errorf("the IL of a method: %w", target.ErrNotInDump)

// missingIL returns err with ErrILMissing in its chain, if err says that memory is not in the dump.
func missingIL(err error) error {
	if !errors.Is(err, target.ErrNotInDump) {
		return err
	}
	return &missingILError{err}
}

// A missingILError is the error of IL that is missing.
type missingILError struct{ err error }

func (e *missingILError) Error() string { return e.err.Error() }

func (e *missingILError) Unwrap() []error { return []error{e.err, ErrILMissing} }

// ILAddress returns the address of the header of m's IL body. The body itself need not be in the dump.
func (r *CodeReader) ILAddress(m *MethodDesc) (target.Addr, error) {
	p, err := m.ilPlace()
	if err != nil || p.image == nil {
		return p.at, err
	}
	return p.image.Address(p.rva)
}

// ILReplaced returns nil if m runs the IL of the metadata. Otherwise it returns the reason as a
// target.ErrUnsupported: a profiler has replaced the IL (ReJIT), or the module can be edited while it runs.
func (r *CodeReader) ILReplaced(m *MethodDesc) error {
	c, err := r.members()
	if err != nil {
		return err
	}
	versions, err := r.versionsOf(c, m)
	for i := range versions {
		if v := &versions[i]; v.Active && v.ReJITErr == nil && v.ReJIT != 0 {
			return rejitted(v)
		}
	}
	if mod, merr := m.Module(); merr == nil && mod.editable() {
		return target.Unsupportedf("the module can be changed while it runs (hot reload, Edit and Continue): its IL and metadata are shown as it was built")
	}
	if errors.Is(err, target.ErrNotInDump) {
		return nil // the dump does not show a replacement
	}
	return err
}

func rejitted(v *CodeVersion) error {
	return target.Unsupportedf("a profiler has replaced the method's IL (ReJIT %d): the metadata's IL is not what runs", v.ReJIT)
}

// An ilPlace locates a method's IL: in the image of its module, or at an address for a method of
// Reflection.Emit.
type ilPlace struct {
	image *image.Image // or nil
	rva   image.RVA
	at    target.Addr
}

func (m *MethodDesc) ilPlace() (ilPlace, error) {
	if m == nil || m.Token.IsNil() || m.Kind != MethodIL && m.Kind != MethodInstantiated {
		return ilPlace{}, ErrNoIL
	}
	_, row, err := m.def()
	if err != nil {
		return ilPlace{}, err
	}
	mod, err := m.Module()
	if err != nil {
		return ilPlace{}, err
	}
	return mod.ilPlace(m.Token, row)
}

func (m *Module) ilPlace(t metadata.Token, def metadata.MethodDefRow) (ilPlace, error) {
	if def.RVA == 0 {
		return ilPlace{}, ErrNoIL
	}
	if at, err := m.Image(); err == nil && at.Start == 0 {
		il, err := m.EmittedIL(t)
		if err == nil && il == 0 {
			err = ErrNoIL
		}
		return ilPlace{at: il}, err
	}
	im, err := m.PEImage()
	return ilPlace{image: im, rva: image.RVA(def.RVA)}, err
}

// IL returns the IL body of m from the dump or the module's file.
func (r *CodeReader) IL(m *MethodDesc) (metadata.MethodBody, error) {
	p, err := m.ilPlace()
	if err != nil {
		return metadata.MethodBody{}, err
	}
	mod, _ := m.Module() // needed only for its file
	body, err := r.body(mod, p)
	if err != nil && p.image != nil {
		err = fmt.Errorf("IL of method %016x: %w", uint64(m.Addr), err)
	}
	return body, err
}

// ILOf returns the IL body of a method that the runtime need not have loaded, by its row in the table MethodDef of a module.
func (r *CodeReader) ILOf(m *Module, row uint32) (metadata.MethodBody, error) {
	meta, err := m.Metadata()
	if err != nil {
		return metadata.MethodBody{}, err
	}
	def, err := meta.MethodDef(row)
	if err != nil {
		return metadata.MethodBody{}, err
	}
	p, err := m.ilPlace(metadata.NewToken(metadata.TableMethodDef, row), def)
	if err != nil {
		return metadata.MethodBody{}, err
	}
	return r.body(m, p)
}

// body reads a body from the dump, or from the file of m, which may be nil.
func (r *CodeReader) body(m *Module, p ilPlace) (metadata.MethodBody, error) {
	if p.image == nil {
		return r.ILAt(p.at)
	}
	read := func(im *image.Image) (metadata.MethodBody, error) {
		return readBody(func(off, n int) ([]byte, error) { return im.BytesRVA(p.rva+image.RVA(off), n) })
	}
	body, err := read(p.image)
	if err == nil || m == nil {
		return body, missingIL(err)
	}
	if file, ferr := m.openFile(p.image); ferr == nil {
		if body, ferr := read(file); ferr == nil {
			return body, nil
		}
	}
	return metadata.MethodBody{}, missingIL(err)
}

// ILAt returns the IL body with its header at a.
func (r *CodeReader) ILAt(a target.Addr) (metadata.MethodBody, error) {
	body, err := readBody(func(off, n int) ([]byte, error) { return target.Bytes(r.mem, a+target.Addr(off), n) })
	if err != nil {
		return body, fmt.Errorf("IL at %016x: %w", uint64(a), err)
	}
	return body, nil
}

// Headers of bodies and of the sections after them (ECMA-335 II.25.4).
const (
	ilFormatMask    = 0x3
	ilTiny          = 0x2
	ilMoreSections  = 0x8
	ilFatHeader     = 12
	ilSectionFat    = 0x40
	ilSectionMore   = 0x80
	ilSectionHeader = 4
	ilSmallClause   = 12
	ilFatClause     = 24
)

// readBody reads a body with read: first the header, then the size recorded there. It does not read past the
// body.
func readBody(read func(off, n int) ([]byte, error)) (metadata.MethodBody, error) {
	size, err := bodySize(read)
	if err != nil {
		return metadata.MethodBody{}, err
	}
	b, err := read(0, size)
	if err != nil {
		return metadata.MethodBody{}, err
	}
	return metadata.ParseMethodBody(b)
}

func bodySize(read func(off, n int) ([]byte, error)) (int, error) {
	b, err := read(0, 1)
	if err != nil {
		return 0, err
	}
	if b[0]&ilFormatMask == ilTiny {
		return 1 + int(b[0]>>2), nil
	}
	if b, err = read(0, ilFatHeader); err != nil {
		return 0, err
	}
	flags, code := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint32(b[4:])
	if code > limits.ILBytes {
		return 0, target.Corruptf("%d bytes of IL", code)
	}
	size := 4*int(flags>>12) + int(code)
	for more := flags&ilMoreSections != 0; more; {
		start := (size + 3) &^ 3
		if b, err = read(start, ilSectionHeader); err != nil {
			return 0, err
		}
		n, clause := int(b[1]), ilSmallClause
		if b[0]&ilSectionFat != 0 {
			n, clause = n|int(b[2])<<8|int(b[3])<<16, ilFatClause
		}
		if n < ilSectionHeader || size > limits.ILBytes {
			return 0, target.Corruptf("section of %d bytes after IL", n)
		}
		// Some compilers leave the section's header out of the size.
		size, more = start+max(n, ilSectionHeader+n/clause*clause), b[0]&ilSectionMore != 0
	}
	return size, nil
}

// DynamicResolver returns the address of the managed DynamicResolver of a DynamicMethod, which holds its IL and
// the objects of its tokens (dynamicmethod.h, LCGMethodResolver). It returns 0 if the object is gone.
func (r *CodeReader) DynamicResolver(m *MethodDesc) (target.Addr, error) {
	if lcg, err := m.IsLCG(); err != nil || !lcg {
		return 0, cmp.Or(err, ErrNoIL)
	}
	c, err := r.members()
	if err != nil {
		return 0, err
	}
	resolver, err := r.ptr(m.Addr, c.Dynamic.Resolver, "DynamicMethodDesc.Resolver")
	if err != nil {
		return 0, err
	}
	back, err := r.ptr(resolver, c.LCGResolver.Method, "LCGMethodResolver.DynamicMethod")
	if err != nil {
		return 0, err
	}
	if back != m.Addr {
		return 0, target.CorruptHeapf("resolver %016x of method %016x names method %016x", uint64(resolver), uint64(m.Addr), uint64(back))
	}
	handle, err := r.ptr(resolver, c.LCGResolver.Managed, "LCGMethodResolver.ManagedResolver")
	if err != nil || handle == 0 {
		return 0, err
	}
	return target.Pointer(r.mem, handle)
}
