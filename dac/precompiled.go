package dac

import (
	"cmp"
	"encoding/binary"
	"errors"
	"sort"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/nativeformat"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// Sections of a ReadyToRun image with its methods (readytorun.h, ReadyToRunSectionType, .NET Core 3.1 to 11).
const (
	r2rSectionFunctions = 102 // RuntimeFunctions
	r2rSectionMethods   = 103 // MethodDefEntryPoints
	r2rSectionInstances = 109 // InstanceMethodEntryPoints
	r2rSectionHotCold   = 120 // HotColdMap
)

// Precompiled names the methods of a ReadyToRun image without a runtime, by the image's entry points and
// metadata. It does not name instances of another image's generic types or methods. It is safe for concurrent
// use.
type Precompiled struct {
	img       *image.Image
	base      target.Addr
	version   int                             // version of the GC info
	functions []precompiledPart               // sorted by begin
	cold      uint32                          // index of the first function that is a cold part
	entries   map[uint32]metadata.InstanceSig // by the index of the method's first function
	md        *metadata.Metadata
}

// A precompiledPart is a RUNTIME_FUNCTION: a method or a part of one, by RVAs.
type precompiledPart struct{ begin, unwind uint32 }

// OpenPrecompiled reads the entry points of an image that a process loaded at base. It returns
// target.ErrUnsupported for an image without entry points.
func OpenPrecompiled(img *image.Image, base target.Addr) (*Precompiled, error) {
	h, err := img.ReadyToRun()
	if err != nil {
		return nil, err
	}
	p := &Precompiled{img: img, base: base, version: codeinfo.GCInfoVersionReadyToRun(h.Major), entries: map[uint32]metadata.InstanceSig{}}
	if err := p.readFunctions(&h); err != nil {
		return nil, err
	}
	if err := p.readMethods(&h); err != nil {
		return nil, err
	}
	if err := p.readInstances(&h); err != nil {
		return nil, err
	}
	blob, err := img.Metadata()
	if err != nil {
		return nil, err
	}
	p.md, err = metadata.Parse(blob.Data)
	return p, err
}

// readFunctions reads the table of functions.
func (p *Precompiled) readFunctions(h *image.ReadyToRunHeader) error {
	stride := uint64(unwind.RuntimeFunctionSize(p.img.Arch()))
	d, ok := h.Section(r2rSectionFunctions)
	switch {
	case !ok || d.Size == 0:
		return target.Unsupportedf("the image lists no precompiled functions")
	case d.Size%stride != 0 || d.Size/stride > limits.RuntimeFunctions:
		return target.Corruptf("%d bytes of precompiled functions", d.Size)
	}
	b, err := p.img.BytesRVA(d.RVA, int(d.Size))
	if err != nil {
		return err
	}
	p.functions = make([]precompiledPart, 0, d.Size/stride)
	for ; len(b) > 0; b = b[stride:] {
		part := precompiledPart{begin: binary.LittleEndian.Uint32(b), unwind: binary.LittleEndian.Uint32(b[stride-4:])}
		if n := len(p.functions); n > 0 && part.begin < p.functions[n-1].begin {
			return target.Corruptf("precompiled function %d begins before function %d", n, n-1)
		}
		p.functions = append(p.functions, part)
	}
	p.cold = uint32(len(p.functions))
	if d, ok := h.Section(r2rSectionHotCold); ok && d.Size >= 4 {
		b, err := p.img.BytesRVA(d.RVA, 4)
		if err != nil {
			return err
		}
		p.cold = binary.LittleEndian.Uint32(b)
	}
	return nil
}

// readMethods maps functions to the methods that start with them (readytorun-format.md, MethodDefEntryPoints).
func (p *Precompiled) readMethods(h *image.ReadyToRunHeader) error {
	b, err := p.section(h, r2rSectionMethods)
	if err == nil && b == nil {
		err = target.Unsupportedf("the image has no table of methods")
	}
	if err != nil {
		return err
	}
	methods, err := newNativeArray(b)
	if err != nil {
		return err
	}
	for i := range min(methods.count, uint32(len(b))) {
		at, ok, err := methods.at(i)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		function, err := entryFunction(b[at:])
		if err != nil {
			return err
		}
		p.entries[function] = metadata.InstanceSig{Method: i + 1}
	}
	return nil
}

// readInstances maps functions to instances of generic methods and of methods of generic types
// (InstanceMethodEntryPoints): a signature, followed by the same data as for a method.
func (p *Precompiled) readInstances(h *image.ReadyToRunHeader) error {
	b, err := p.section(h, r2rSectionInstances)
	if err != nil || b == nil {
		return err
	}
	return p.addInstances(b)
}

func (p *Precompiled) addInstances(b []byte) error {
	var failed error
	err := nativeformat.Entries(b, func(entry []byte) {
		sig, n, err := metadata.ParseInstanceSig(entry)
		if err == nil {
			var function uint32
			if function, err = entryFunction(entry[n:]); err == nil {
				p.entries[function] = sig
			}
		}
		failed = cmp.Or(failed, err)
	})
	return cmp.Or(err, failed)
}

// section returns the bytes of a section, or nil if the image lacks it.
func (p *Precompiled) section(h *image.ReadyToRunHeader, kind uint32) ([]byte, error) {
	d, ok := h.Section(kind)
	switch {
	case !ok || d.Size == 0:
		return nil, nil
	case d.Size > limits.DebugInfoBytes:
		return nil, target.Corruptf("section %d of %d bytes", kind, d.Size)
	}
	return p.img.BytesRVA(d.RVA, int(d.Size))
}

// entryFunction decodes the index of a method's first function. It is shifted by one bit, or by two if fixups
// follow.
func entryFunction(b []byte) (uint32, error) {
	r := nativeReader{b: b}
	id := r.uint()
	if id&1 != 0 {
		id >>= 1
	}
	return id >> 1, r.err
}

// At returns the name and the start of the method with code at ip. name is "" if unknown. A function with which
// no method starts is a funclet of the previous method, if that method's code extends so far.
func (p *Precompiled) At(ip target.Addr) (name string, start target.Addr) {
	if p == nil || ip < p.base || uint64(ip-p.base) > 1<<32-1 {
		return "", 0
	}
	rva := uint32(ip - p.base)
	last := sort.Search(len(p.functions), func(i int) bool { return p.functions[i].begin > rva }) - 1
	if last < 0 || uint32(last) >= p.cold {
		return "", 0
	}
	for i := last; i >= 0 && last-i < limits.Funclets; i-- {
		sig, ok := p.entries[uint32(i)]
		if !ok {
			continue
		}
		begin := p.functions[i].begin
		if n, err := p.codeLength(p.functions[i].unwind); err != nil && i != last || err == nil && rva-begin >= n {
			return "", 0
		}
		name, err := p.name(&sig)
		if err != nil {
			return "", 0
		}
		return name, p.base + target.Addr(begin)
	}
	return "", 0
}

// codeLength returns the size in bytes of a method's code with its funclets, from the GC info after its unwind
// information.
func (p *Precompiled) codeLength(unwind uint32) (uint32, error) {
	mem, at := imageBytes{p.img}, target.Addr(unwind)
	size, err := codeinfo.UnwindInfoSize(mem, p.img.Arch(), at)
	if err != nil {
		return 0, err
	}
	return codeinfo.ReadCodeLength(mem, at+target.Addr(size), p.img.Arch(), p.version)
}

// imageBytes is an image as memory from address 0 on.
type imageBytes struct{ *image.Image }

func (m imageBytes) ReadMemory(p []byte, a target.Addr) (int, error) {
	return m.ReadRVA(p, image.RVA(a))
}

func (m imageBytes) View(a target.Addr, n int) ([]byte, bool) { return m.ViewRVA(image.RVA(a), n) }

func (m imageBytes) Span(target.Addr) []byte { return nil }

// name returns the name of a method as the runtime writes it. Types of other assemblies get the name of the
// referenced assembly.
func (p *Precompiled) name(sig *metadata.InstanceSig) (string, error) {
	if sig.Foreign {
		return "", target.Unsupportedf("a method of another image")
	}
	row, err := p.md.MethodDef(sig.Method)
	if err != nil {
		return "", err
	}
	owner, err := p.md.MethodOwner(sig.Method)
	if err != nil {
		return "", err
	}
	class, err := p.md.TypeDefFullName(owner)
	if err != nil {
		return "", err
	}
	var typeArgs []metadata.TypeSig
	if sig.Owner != nil {
		definition := sig.Owner
		if definition.Kind == metadata.ElementGenericInst {
			definition, typeArgs = definition.Elem, definition.Args
		}
		if definition.Token.Table() != metadata.TableTypeDef || definition.Token.Row() != owner {
			return "", target.Unsupportedf("a method of another image")
		}
	}
	name, err1 := p.md.String(row.Name)
	blob, err2 := p.md.Blob(row.Signature)
	ofType, err3 := p.arguments(typeArgs, 0)
	ofMethod, err4 := p.arguments(sig.Args, 0)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return "", err
	}
	method, err := metadata.ParseMethodSig(blob)
	if err != nil {
		return "", err
	}
	return metadata.FormatMethod(class+ofType+"."+name+ofMethod, &method, instanceNames{p.md.Names(), typeArgs, sig.Args}), nil
}

// instanceNames resolves type parameters to an instance's arguments.
type instanceNames struct {
	metadata.Resolver
	typeArgs, methodArgs []metadata.TypeSig
}

// Var implements metadata.Resolver.
func (n instanceNames) Var(i uint32) string { return n.argument(n.typeArgs, i) }

// MVar implements metadata.Resolver.
func (n instanceNames) MVar(i uint32) string { return n.argument(n.methodArgs, i) }

func (n instanceNames) argument(args []metadata.TypeSig, i uint32) string {
	if uint64(i) >= uint64(len(args)) {
		return ""
	}
	return metadata.FormatType(&args[i], n.Resolver)
}

// arguments returns "[[Ns.Type, Assembly],…]", or "" without arguments.
func (p *Precompiled) arguments(args []metadata.TypeSig, depth int) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	list := make([]string, len(args))
	for i := range args {
		name, assembly, err := p.typeName(&args[i], depth)
		if err != nil {
			return "", err
		}
		list[i] = "[" + name + ", " + assembly + "]"
	}
	return "[" + strings.Join(list, ",") + "]", nil
}

// coreLib is the assembly of the types without tokens in signatures.
const coreLib = "System.Private.CoreLib"

// typeName returns the names of a type and its assembly.
func (p *Precompiled) typeName(t *metadata.TypeSig, depth int) (name, assembly string, err error) {
	if depth > limits.SignatureDepth {
		return "", "", target.Corruptf("types are nested more than %d deep", depth)
	}
	suffix := ""
	switch t.Kind {
	case metadata.ElementClass, metadata.ElementValueType:
		return p.tokenName(t.Token)
	case metadata.ElementGenericInst:
		if name, assembly, err = p.typeName(t.Elem, depth+1); err != nil {
			return "", "", err
		}
		args, err := p.arguments(t.Args, depth+1)
		return name + args, assembly, err
	case metadata.ElementSZArray:
		suffix = "[]"
	case metadata.ElementPtr:
		suffix = "*"
	case metadata.ElementArray:
		suffix = "[" + strings.Repeat(",", max(0, int(t.Shape.Rank)-1)) + "]"
	default:
		if !t.Kind.IsPrimitive() && t.Kind != metadata.ElementCanon {
			return "", "", target.Unsupportedf("an argument of kind %v", t.Kind)
		}
		name = metadata.FormatType(t, nil)
		if !strings.Contains(name, ".") {
			name = "System." + name
		}
		return name, coreLib, nil
	}
	name, assembly, err = p.typeName(t.Elem, depth+1)
	return name + suffix, assembly, err
}

// tokenName returns the names of a type that the image defines or refers to, and of its assembly.
func (p *Precompiled) tokenName(t metadata.Token) (name, assembly string, err error) {
	var index metadata.StringIndex
	switch t.Table() {
	case metadata.TableTypeDef:
		row, rerr := p.md.Assembly(1)
		index, err = row.Name, rerr
		if err == nil {
			name, err = p.md.TypeDefFullName(t.Row())
		}
	case metadata.TableTypeRef:
		var scope metadata.Token
		if scope, err = p.md.TypeRefScope(t.Row()); err == nil {
			var row metadata.AssemblyRefRow
			row, err = p.md.AssemblyRef(scope.Row())
			index = row.Name
		}
		if err == nil {
			name, err = p.md.TypeRefFullName(t.Row())
		}
	default:
		err = target.Unsupportedf("a type of table %v", t.Table())
	}
	if err == nil {
		assembly, err = p.md.String(index)
	}
	return name, assembly, err
}
