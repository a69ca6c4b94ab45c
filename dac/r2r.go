package dac

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// An r2rImage is the ReadyToRun code of an image as the runtime loaded it (readytoruninfo.h, ReadyToRunInfo). A
// composite image has one for each component, with the same tables.
type r2rImage struct {
	module    *Module
	mem       target.Memory // completed with the image's file
	info      target.Addr
	base      target.Addr // base of the image
	functions target.Addr // table of RUNTIME_FUNCTIONs
	count     int
	table     []byte // the table, nil if only part of it is in the dump
	entries   entryPoints
	hotCold   []byte // pairs of function indexes: cold part, method
	debug     lazy.Value[*r2rDebug]
}

// imageCode looks up ip in a ReadyToRun image.
func (r *CodeReader) imageCode(c *members, s *RangeSection, ip target.Addr) (CodeInfo, error) {
	im, err := s.r2r.Get(func() (*r2rImage, error) { return r.readR2R(c, s) })
	if err != nil {
		return CodeInfo{}, fmt.Errorf("code of %016x: %w", uint64(ip), err)
	}
	info, err := im.lookup(r, c, ip)
	if err != nil && err != ErrNoCode {
		err = fmt.Errorf("code of %016x: %w", uint64(ip), err)
	}
	return info, err
}

func (r *CodeReader) readR2R(c *members, s *RangeSection) (*r2rImage, error) {
	m, err := r.Runtime().TrustedModule(s.Image)
	if err != nil {
		return nil, err
	}
	info, err := r.ptr(m.Addr, c.Module.ReadyToRun, "Module.ReadyToRunInfo")
	if err != nil {
		return nil, err
	}
	o := &c.ReadyToRun
	rd := layout.Reader{Mem: r.mem, Base: info}
	mem, err := r.imageMemory(c, m, info, s.Range)
	if err != nil {
		return nil, err
	}
	im := &r2rImage{module: m, mem: mem, info: info, base: s.Range.Start, functions: rd.Ptr(o.Functions)}
	n := rd.U32(o.NumFunctions)
	if rd.Err != nil {
		return nil, fmt.Errorf("ReadyToRunInfo %016x: %w", uint64(info), rd.Err)
	}
	if n > limits.RuntimeFunctions || c.Function.Size == layout.Absent {
		return nil, target.Corruptf("ReadyToRunInfo %016x with %d functions", uint64(info), n)
	}
	im.count = int(n)
	im.readTable(c)
	if err := im.readHotCold(r, c); err != nil {
		return nil, err
	}
	owner := info
	if o.Composite != layout.Absent {
		if owner, err = r.ptr(info, o.Composite, "ReadyToRunInfo.CompositeInfo"); err != nil {
			return nil, err
		}
	}
	im.entries, err = r.readEntryPoints(c, owner)
	return im, err
}

// readTable reads the table at once if all of it is in the dump.
func (im *r2rImage) readTable(c *members) {
	size := im.count * c.Function.Size
	if size > 0 && target.Available(im.mem, im.functions+target.Addr(size-1), 1) {
		if b, err := target.Bytes(im.mem, im.functions, size); err == nil {
			im.table = b
		}
	}
}

// readHotCold reads the pairs of functions of an image with split methods.
func (im *r2rImage) readHotCold(r *CodeReader, c *members) error {
	o := &c.ReadyToRun
	if o.HotCold == layout.Absent || o.NumHotCold == layout.Absent {
		return nil
	}
	rd := layout.Reader{Mem: r.mem, Base: im.info}
	at, n := rd.Ptr(o.HotCold), rd.U32(o.NumHotCold)
	if rd.Err != nil || n == 0 {
		return rd.Err
	}
	if n%2 != 0 || uint64(n) > 2*uint64(im.count) {
		return target.Corruptf("%d numbers of hot and cold code for %d functions", n, im.count)
	}
	var err error
	im.hotCold, err = target.Bytes(im.mem, at, 4*int(n))
	return err
}

// function decodes the RUNTIME_FUNCTION with index i.
func (im *r2rImage) function(c *members, i int) (RuntimeFunction, error) {
	off := i * c.Function.Size
	if im.table != nil {
		return c.function(im.table[off:], im.base), nil
	}
	b, err := target.Bytes(im.mem, im.functions+target.Addr(off), c.Function.Size)
	if err != nil {
		return RuntimeFunction{}, fmt.Errorf("RUNTIME_FUNCTION %d of %s: %w", i, im.module.Label(), err)
	}
	return c.function(b, im.base), nil
}

// find returns the index of the last function that starts at or before ip, or -1. It returns target.ErrCorrupt if it meets functions that are not
// in order.
func (im *r2rImage) find(c *members, ip target.Addr) (int, error) {
	low, high := -1, im.count // the last that starts at or before ip is low, or between them
	var above, below RuntimeFunction
	for high-low > 1 {
		i := int(uint(low+1+high) >> 1)
		f, err := im.function(c, i)
		if err == nil && (low >= 0 && f.Begin <= below.Begin || high < im.count && f.Begin >= above.Begin) {
			err = im.disordered(i, f)
		}
		switch {
		case err != nil:
			return 0, err
		case f.Begin > ip:
			high, above = i, f
		default:
			low, below = i, f
		}
	}
	if low > 0 {
		if f, err := im.function(c, low-1); err == nil && f.Begin >= below.Begin {
			return 0, im.disordered(low, below)
		}
	}
	return low, nil
}

func (im *r2rImage) disordered(i int, f RuntimeFunction) error {
	return target.Corruptf("RUNTIME_FUNCTION %d of %s begins at %016x, and the functions beside it are not in order with it", i, im.module.Label(), uint64(f.Begin))
}

func (im *r2rImage) lookup(r *CodeReader, c *members, ip target.Addr) (CodeInfo, error) {
	at, err := im.find(c, ip)
	if err != nil {
		return CodeInfo{}, err
	}
	if at < 0 {
		return CodeInfo{}, ErrNoCode
	}
	f, err := im.function(c, at)
	if err != nil {
		return CodeInfo{}, err
	}
	if err := r.completeEntry(c, im, at, &f); err != nil {
		return CodeInfo{}, err
	}
	if f.End < f.Begin {
		return CodeInfo{}, im.disordered(at, f)
	}
	if ip >= f.End {
		return CodeInfo{}, ErrNoCode // a thunk or padding between methods
	}
	method, cold := im.hotPart(at)
	body, err := im.body(r, c, method)
	if err != nil {
		return CodeInfo{}, err
	}
	info := body.info
	info.Function, info.Cold, info.Funclet = f, cold, at != info.index && !cold
	if cold {
		info.Offset = uint32(info.Size) + uint32(ip-f.Begin)
		return info, nil
	}
	if info.Offset = uint32(ip - info.Start); info.Size != 0 && uint64(info.Offset) >= info.Size {
		// The process never prepared the method: the runtime has no MethodDesc.
		return CodeInfo{}, ErrNoCode
	}
	return info, nil
}

// completeEntry sets the end of entry i of the table if only the unwind information records it. If that is not
// in the dump, the entry extends to the next one, so that the method of a frame is still found.
func (r *CodeReader) completeEntry(c *members, im *r2rImage, i int, f *RuntimeFunction) error {
	err := r.complete(c, im.mem, f)
	if err == nil || !errors.Is(err, target.ErrNotInDump) {
		return err
	}
	if i+1 >= im.count {
		f.End = target.Addr(^uint64(0))
		return nil
	}
	next, err := im.function(c, i+1)
	f.End = next.Begin
	return err
}

// hotPart returns the index of the function with function i as its cold part, or i itself
// (readytorun-format.md, "Hot/cold map").
func (im *r2rImage) hotPart(i int) (int, bool) {
	pairs := len(im.hotCold) / 8
	le := binary.LittleEndian
	n := sort.Search(pairs, func(k int) bool { return int64(le.Uint32(im.hotCold[8*k:])) > int64(i) }) - 1
	if n < 0 {
		return i, false
	}
	hot := int64(le.Uint32(im.hotCold[8*n+4:]))
	if hot >= int64(i) {
		return i, false
	}
	return int(hot), true
}

// body searches backwards from function i, which may be a funclet, for the entry point of a method.
func (im *r2rImage) body(r *CodeReader, c *members, i int) (*body, error) {
	for first := i; i >= 0 && first-i < limits.Funclets; i-- {
		f, err := im.function(c, i)
		if err != nil {
			return nil, err
		}
		if b, ok := r.bodies.Load(f.Begin); ok {
			return b.(*body), nil
		}
		md, err := im.entries.lookup(f.Begin)
		if err != nil {
			return nil, err
		}
		if md == 0 {
			continue
		}
		return im.readBody(r, f, i, md)
	}
	return nil, ErrNoCode
}

func (im *r2rImage) readBody(r *CodeReader, f RuntimeFunction, i int, md target.Addr) (*body, error) {
	m, err := r.TrustedMethodDesc(md)
	if err != nil {
		return nil, err
	}
	b := &body{info: CodeInfo{Kind: CodeReadyToRun, Method: m, Start: f.Begin, Base: im.base, Image: im.module, index: i}}
	// The method is found even if code and unwind information are not in the dump.
	size, err := codeinfo.UnwindInfoSize(im.mem, r.Runtime().Target().Platform().Arch, f.Unwind)
	if err == nil {
		b.info.GCInfo = f.Unwind + target.Addr(size) // follows the method's unwind information
		b.info.Size, err = r.gcCodeLength(im.mem, b.info)
		if part := uint64(f.End - f.Begin); err == nil && f.End > f.Begin && b.info.Size < part {
			err = target.Corruptf("its GC info is of %d bytes of code, and its first part has %d", b.info.Size, part)
			b.info.Size, b.info.GCInfo = 0, 0
		}
	}
	b.info.lack = err
	kept, _ := r.bodies.LoadOrStore(f.Begin, b)
	return kept.(*body), nil
}

// imageOf returns the image with the code described by info.
func (r *CodeReader) imageOf(c *members, info CodeInfo) (*r2rImage, error) {
	s, err := r.rangeSection(c, info.Start)
	if err != nil {
		return nil, err
	}
	return s.r2r.Get(func() (*r2rImage, error) { return r.readR2R(c, s) })
}

// codeMemory returns the memory for data that belongs to code. The image's file completes constant data of an
// image.
func (r *CodeReader) codeMemory(info CodeInfo) (target.Memory, error) {
	if info.Kind != CodeReadyToRun {
		return r.mem, nil
	}
	c, err := r.members()
	if err != nil {
		return nil, err
	}
	im, err := r.imageOf(c, info)
	if err != nil {
		return nil, err
	}
	return im.mem, nil
}

// imageFunctions returns the RUNTIME_FUNCTIONs of a method and its funclets.
func (r *CodeReader) imageFunctions(c *members, info CodeInfo) ([]RuntimeFunction, error) {
	im, err := r.imageOf(c, info)
	if err != nil {
		return nil, err
	}
	var out []RuntimeFunction
	for i := info.index; i < im.count && i-info.index < limits.Funclets; i++ {
		f, err := im.function(c, i)
		if err != nil {
			return out, err
		}
		if i > info.index && uint64(f.Begin-info.Start) >= info.Size {
			break
		}
		if err := r.completeEntry(c, im, i, &f); err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

// An imageMemory is the memory of an image, completed with constant data from its file. The ReadyToRun tables
// are in a writable section, which the runtime's memory does not complete; but they are never written to.
type imageMemory struct {
	target.Memory
	image target.Range
	open  func() (*image.Image, error) // opens the file with RVAs from image.Start on
	file  *lazy.Value[*image.Image]
}

// fromFile opens the image's file for the address a. It returns nil if a is not in the image, and
// target.ErrUnsupported if the file is unknown.
func (im *imageMemory) fromFile(a target.Addr) (*image.Image, error) {
	if !im.image.Contains(a) {
		return nil, nil
	}
	file, err := im.file.Get(im.open)
	if err != nil && !errors.Is(err, target.ErrUnsupported) {
		return nil, nil
	}
	return file, err
}

// ReadMemory implements target.Memory.
func (im *imageMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := im.Memory.ReadMemory(p, a)
	if err == nil || !errors.Is(err, target.ErrNotInDump) {
		return n, err
	}
	file, ferr := im.fromFile(a + target.Addr(n))
	if ferr != nil {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: ferr}
	}
	if file == nil {
		return n, err
	}
	more, ferr := file.ReadRVA(p[n:], image.RVA(a+target.Addr(n)-im.image.Start))
	if n += more; n == len(p) {
		return n, nil
	}
	return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: errors.Join(target.ErrNotInDump, ferr)}
}

// View implements target.Memory.
func (im *imageMemory) View(a target.Addr, n int) ([]byte, bool) {
	if b, ok := im.Memory.View(a, n); ok {
		return b, true
	}
	if target.Available(im.Memory, a, n) {
		return nil, false // partly in the dump, and the dump's bytes come first
	}
	if file, err := im.fromFile(a); err == nil && file != nil {
		return file.ViewRVA(image.RVA(a-im.image.Start), n)
	}
	return nil, false
}
