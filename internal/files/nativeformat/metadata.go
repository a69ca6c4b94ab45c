package nativeformat

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A Handle refers to a record of the metadata.
type Handle struct {
	Type   HandleType
	Offset uint32 // in the metadata
}

// A Token is a Handle as stored in the maps: its kind is in the upper bits.
type Token uint32

// A HandleType is a kind of record (HandleType of Internal.Metadata.NativeFormat).
type HandleType uint8

// Kinds of records for names. Open checks the numbers by the references between records.
const (
	arraySignature       HandleType = 0x01
	byReferenceSignature HandleType = 0x02
	functionPointer      HandleType = 0x25
	methodVariable       HandleType = 0x2c
	modifiedType         HandleType = 0x2d
	namespaceDefinition  HandleType = 0x2f
	namespaceReference   HandleType = 0x30
	pointerSignature     HandleType = 0x32
	szArraySignature     HandleType = 0x37
	scopeDefinition      HandleType = 0x38
	typeDefinition       HandleType = 0x3a
	typeInstantiation    HandleType = 0x3c
	typeReference        HandleType = 0x3d
	typeSpecification    HandleType = 0x3e
	typeVariable         HandleType = 0x3f
)

// signature starts metadata (MetadataHeader.Signature).
const signature = 0xdeaddffd

// Metadata holds the names of a program's types and methods. It is immutable.
type Metadata struct {
	b          []byte
	kindBits   uint                 // width of the kind in a Handle: 8, since .NET 10 7
	namespaces map[uint32]namespace // by offset of the record
	scopes     []Scope
}

// A Scope is an assembly compiled into the program.
type Scope struct {
	Name         string
	Major, Minor uint16 // of its version
}

// Scopes returns the assemblies with types defined in the metadata.
func (m *Metadata) Scopes() []Scope { return m.scopes }

type namespace struct{ name, assembly string }

// Open reads the namespaces of the metadata b, and keeps b. It returns target.ErrUnsupported for an unknown
// schema.
func Open(b []byte) (*Metadata, error) {
	m := &Metadata{b: b, namespaces: map[uint32]namespace{}}
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != signature {
		return nil, target.Unsupportedf("metadata of a NativeAOT program without the known signature")
	}
	d := m.record(4)
	scopes := d.list()
	if d.err != nil {
		return nil, d.err
	}
	for _, s := range scopes {
		if err := m.scope(s); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metadata) scope(at uint32) error {
	d := m.record(at)
	d.unsigned() // flags
	name := d.unsigned()
	d.unsigned() // hash algorithm
	major, minor := d.unsigned(), d.unsigned()
	d.unsigned() // the rest of the version
	d.unsigned()
	d.take(d.count()) // public key
	d.unsigned()      // culture
	root := d.unsigned()
	if d.err != nil {
		return d.err
	}
	assembly, err := m.text(name)
	if err != nil {
		return err
	}
	m.scopes = append(m.scopes, Scope{assembly, uint16(major), uint16(minor)})
	if m.kindBits == 0 {
		m.kindBits = kindBits(m.record(root).unsigned(), at)
	}
	return m.walk(root, Handle{scopeDefinition, at}, namespace{assembly: assembly}, 0)
}

// kindBits returns the width of a handle's kind in bits, derived from a handle of the scope at an offset, or 0.
func kindBits(raw, scope uint32) uint {
	for _, bits := range []uint{7, 8} {
		if raw == scope<<bits|uint32(scopeDefinition) {
			return bits
		}
	}
	return 0
}

// handle reads a handle as stored in records: the kind is in the low bits.
func (m *Metadata) handle(d *decoder) Handle { return m.raw(d.unsigned()) }

func (m *Metadata) raw(v uint32) Handle {
	return Handle{HandleType(v & (1<<m.kindBits - 1)), v >> m.kindBits}
}

// Handle converts a token of a map.
func (m *Metadata) Handle(t Token) Handle {
	return Handle{HandleType(t >> (32 - m.kindBits)), uint32(t) & (1<<(32-m.kindBits) - 1)}
}

// walk records a namespace and those inside it. Each refers back to its owner, which checks the numbers of
// HandleType.
func (m *Metadata) walk(at uint32, owner Handle, outer namespace, depth int) error {
	if _, twice := m.namespaces[at]; twice || depth > limits.TypeNameDepth {
		return target.Corruptf("native format: the namespace at %#x stands in two places", at)
	}
	d := m.record(at)
	back, name := m.handle(d), d.unsigned()
	d.skipList() // types
	d.skipList() // forwarders
	inner := d.list()
	if d.err != nil {
		return d.err
	}
	if back != owner {
		return target.Unsupportedf("metadata of a NativeAOT program in another form: a namespace of %v names %v as its owner", owner, back)
	}
	own, err := m.optional(name)
	if err != nil {
		return err
	}
	full := namespace{join(outer.name, ".", own), outer.assembly}
	m.namespaces[at] = full
	for _, n := range inner {
		if err := m.walk(n, Handle{namespaceDefinition, at}, full, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// definition returns the name of the type defined by a record, and its assembly.
func (m *Metadata) definition(at uint32, depth int) (name, assembly string, err error) {
	if depth > limits.TypeNameDepth {
		return "", "", target.Limitf("native format: the type at %#x is nested deeper than sosgo reads", at)
	}
	d := m.record(at)
	d.unsigned() // flags
	m.handle(d)  // base type
	in, own := d.unsigned(), d.unsigned()
	d.unsigned() // size
	d.unsigned() // packing
	enclosing := d.unsigned()
	if d.err != nil {
		return "", "", d.err
	}
	if name, err = m.text(own); err != nil {
		return "", "", err
	}
	if enclosing != 0 {
		outer, assembly, err := m.definition(enclosing, depth+1)
		return outer + "+" + name, assembly, err
	}
	ns, ok := m.namespaces[in]
	if !ok {
		return "", "", target.Corruptf("native format: the type at %#x is in no namespace", at)
	}
	return join(ns.name, ".", name), ns.assembly, nil
}

func join(a, between, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + between + b
}

func (m *Metadata) record(at uint32) *decoder { return &decoder{b: m.b, at: int(at)} }

func (m *Metadata) text(at uint32) (string, error) {
	d := m.record(at)
	s := d.text()
	return s, d.err
}

// optional returns the text at an offset, or "" for offset 0.
func (m *Metadata) optional(at uint32) (string, error) {
	if at == 0 {
		return "", nil
	}
	return m.text(at)
}

// TypeName returns the full name of a type in a map, with the arities of generic types, and the simple name of
// the assembly that defines it. assembly is "" if the metadata only refers to the type.
func (m *Metadata) TypeName(h Handle) (name, assembly string, err error) {
	switch h.Type {
	case typeDefinition:
		return m.definition(h.Offset, 0)
	case typeReference:
		name, err := m.reference(h, 0)
		return name, "", err
	}
	return "", "", target.Unsupportedf("native format: a type of kind %#x", uint8(h.Type))
}

// reference returns the name of a type or namespace that the metadata refers to.
func (m *Metadata) reference(h Handle, depth int) (string, error) {
	if depth > limits.TypeNameDepth {
		return "", target.Limitf("native format: the type at %#x is nested deeper than sosgo reads", h.Offset)
	}
	d := m.record(h.Offset)
	parent, at := m.handle(d), d.unsigned()
	if d.err != nil {
		return "", d.err
	}
	name, err := m.optional(at)
	if err != nil {
		return "", err
	}
	switch parent.Type {
	case typeReference, namespaceReference:
		outer, err := m.reference(parent, depth+1)
		if parent.Type == typeReference && h.Type == typeReference {
			return outer + "+" + name, err
		}
		return join(outer, ".", name), err
	}
	return name, nil // the outer record is a scope, or missing
}

// A Method is the entry of a method in a program's stack trace data.
type Method struct {
	Offset    int64 // offset of its code from the start of the data
	Owner     Token
	Name      uint32 // offset of its name
	Signature uint32 // offset of its signature
	Hidden    bool   // stack traces omit it
}

// Bits of a command of stack trace data (StackTraceDataCommand).
const (
	updateOwner      = 0x01
	updateName       = 0x02
	updateSignature  = 0x04
	updateGeneric    = 0x08
	stackTraceHidden = 0x10
)

// Methods decodes the stack trace data of a program: its methods in any order.
func Methods(b []byte) ([]Method, error) {
	d := &decoder{b: b}
	head := d.take(4)
	if d.err != nil {
		return nil, d.err
	}
	n := binary.LittleEndian.Uint32(head)
	if int64(n) > int64(len(b))/5 {
		return nil, target.Corruptf("native format: stack trace data of %d methods in %d bytes", n, len(b))
	}
	out := make([]Method, 0, n)
	var m Method
	for range n {
		command := d.take(1)
		if d.err != nil {
			return nil, d.err
		}
		c := command[0]
		if c&^(updateOwner|updateName|updateSignature|updateGeneric|stackTraceHidden) != 0 {
			return nil, target.Unsupportedf("native format: stack trace data with the command %#x", c)
		}
		if c&updateOwner != 0 {
			if h := d.take(4); h != nil {
				m.Owner = Token(binary.LittleEndian.Uint32(h))
			}
		}
		if c&updateName != 0 {
			m.Name = d.unsigned()
		}
		if c&updateSignature != 0 {
			m.Signature = d.unsigned()
		}
		if c&updateGeneric != 0 {
			m.Signature = d.unsigned()
			d.unsigned() // names of type arguments
		}
		at := d.at
		rel := d.take(4)
		if d.err != nil {
			return nil, d.err
		}
		m.Offset, m.Hidden = int64(at)+int64(int32(binary.LittleEndian.Uint32(rel))), c&stackTraceHidden != 0
		out = append(out, m)
	}
	if d.at != len(b) {
		return nil, target.Corruptf("native format: %d bytes after the %d methods of stack trace data", len(b)-d.at, n)
	}
	return out, nil
}

// MethodName returns the name of a method with its type and the types of its parameters: Zoo.Dog.Bark(Int32,
// Cat).
func (m *Metadata) MethodName(of *Method) (string, error) {
	f := typeFormatter{m: m}
	f.write(m.Handle(of.Owner), true, 0)
	name, err := m.text(of.Name)
	if err != nil {
		return "", err
	}
	f.method(name, of.Signature)
	return f.b.String(), f.err
}

// methodAbstract is a flag of methods (MethodAttributes.Abstract).
const methodAbstract = 0x400

// MethodOf returns the name of the method with its record at an offset, in the type defined by owner:
// Zoo.Dog.Bark(Int32, Cat). It returns target.ErrCorrupt if the type lacks that method, or if the method has no
// code.
func (m *Metadata) MethodOf(owner Handle, method uint32) (string, error) {
	name, _, err := m.TypeName(owner)
	if err != nil {
		return "", err
	}
	d := m.record(owner.Offset)
	for range 7 { // flags, base type, namespace, name, size, packing, enclosing type
		d.unsigned()
	}
	d.skipList() // nested types
	methods := d.list()
	d = m.record(method)
	flags := d.unsigned()
	d.unsigned() // implementation flags
	own, signature := d.unsigned(), d.unsigned()
	if d.err != nil {
		return "", d.err
	}
	if owner.Type != typeDefinition || !slices.Contains(methods, method) || flags&methodAbstract != 0 {
		return "", target.Corruptf("native format: %s has no method with code at %#x", name, method)
	}
	text, err := m.text(own)
	if err != nil {
		return "", err
	}
	f := typeFormatter{m: m}
	f.b.WriteString(name)
	f.method(text, signature)
	return f.b.String(), f.err
}

type typeFormatter struct {
	m   *Metadata
	b   strings.Builder
	err error
}

// method writes the name of a method and the types of its parameters, by its signature.
func (f *typeFormatter) method(name string, signature uint32) {
	f.b.WriteString("." + name + "(")
	d := f.m.record(signature)
	d.unsigned() // calling convention
	d.signed()   // type parameters
	f.m.handle(d)
	for i, p := range d.list() {
		if i > 0 {
			f.b.WriteString(", ")
		}
		f.write(f.m.raw(p), false, 0)
	}
	f.b.WriteByte(')')
	f.err = cmp.Or(f.err, d.err)
}

// inner writes the element of a constructed type.
func (f *typeFormatter) inner(h Handle, full bool, depth int) *decoder {
	d := f.m.record(h.Offset)
	f.write(f.m.handle(d), full, depth+1)
	f.err = cmp.Or(f.err, d.err)
	return d
}

// write writes a type, with its namespace if full.
func (f *typeFormatter) write(h Handle, full bool, depth int) {
	if f.err != nil {
		return
	}
	if depth > limits.TypeNameDepth || f.b.Len() > limits.IdentifierBytes {
		f.err = target.Limitf("native format: a signature is nested deeper, or its text is longer, than sosgo reads")
		return
	}
	switch h.Type {
	case typeDefinition, typeReference:
		name, _, err := f.m.TypeName(h)
		if f.err = err; !full {
			name = name[strings.LastIndexByte(name, '.')+1:]
		}
		f.b.WriteString(name)
	case typeSpecification:
		f.inner(h, full, depth)
	case typeInstantiation:
		f.instance(h, full, depth)
	case szArraySignature:
		f.inner(h, full, depth)
		f.b.WriteString("[]")
	case arraySignature:
		d := f.inner(h, full, depth)
		f.b.WriteString("[" + strings.Repeat(",", max(0, min(int(d.signed()), limits.ArrayRank)-1)) + "]")
	case pointerSignature:
		f.inner(h, full, depth)
		f.b.WriteByte('*')
	case byReferenceSignature:
		f.inner(h, full, depth)
		f.b.WriteByte('&')
	case typeVariable:
		f.b.WriteString("!" + strconv.Itoa(int(f.m.record(h.Offset).signed())))
	case methodVariable:
		f.b.WriteString("!!" + strconv.Itoa(int(f.m.record(h.Offset).signed())))
	case functionPointer:
		f.b.WriteString("(FNPTR)")
	case modifiedType:
		d := f.m.record(h.Offset)
		d.take(1)
		f.m.handle(d)
		f.write(f.m.handle(d), full, depth+1)
	default:
		f.err = target.Unsupportedf("native format: a signature with a type of kind %#x", uint8(h.Type))
	}
}

func (f *typeFormatter) instance(h Handle, full bool, depth int) {
	d := f.inner(h, full, depth)
	for i, a := range d.list() {
		f.b.WriteString(map[bool]string{true: "<", false: ", "}[i == 0])
		f.write(f.m.raw(a), false, depth+1)
		if d.err != nil {
			break
		}
	}
	f.b.WriteByte('>')
}
