package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// An Error reports a member that no source of the layout has.
type Error struct {
	Type, Field string // Field is "" for a type, a global or a constant
	Reason      error  // why a source with the member has no value for it, or nil
}

func (e *Error) Error() string {
	if e.Reason != nil {
		return fmt.Sprintf("%s of this runtime: %v", e.Type, e.Reason)
	}
	if e.Field == "" {
		return fmt.Sprintf("the layout of this runtime lacks %s", e.Type)
	}
	return fmt.Sprintf("the layout of this runtime lacks %s.%s", e.Type, e.Field)
}

// Unwrap returns target.ErrUnsupported, or the reason if that is corruption or a refused contract.
func (e *Error) Unwrap() error {
	if e.Reason != nil && (errors.Is(e.Reason, target.ErrCorrupt) || IsRefused(e.Reason)) {
		return e.Reason
	}
	return target.ErrUnsupported
}

// A Layout merges the parts for one runtime in one process. A Builder builds it; it is immutable afterwards.
type Layout struct {
	types     map[string]*mergedType
	globals   map[string]Global
	vtables   map[string]Global
	constants map[string]constant
	contracts map[string]string
	refused   map[string]error // types, members, "global X", "constant X" and "contract X" that are not used -> why
	unplaced  map[string]error // globals in slots without a proved place
	sources   []string
}

type mergedType struct {
	size, sizeSource int
	fields           map[string]mergedField
}

type mergedField struct {
	Field
	source int
}

type constant struct {
	raw    json.RawMessage
	source int
}

// A Global is a variable of the runtime, or a value from the descriptor.
type Global struct {
	Addr   target.Addr // of the variable; 0 if Direct
	Value  uint64      // if Direct
	Text   string      // if Direct: as written
	Direct bool
	source int
}

// A Builder merges parts. Add them in the order of precedence: the first part with a member wins, later parts
// only add missing members.
type Builder struct{ l *Layout }

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{&Layout{types: map[string]*mergedType{}, globals: map[string]Global{}, vtables: map[string]Global{},
		constants: map[string]constant{}, contracts: map[string]string{}, refused: map[string]error{}, unplaced: map[string]error{}}}
}

// Addresses resolves the globals of one part. A nil function resolves none.
type Addresses struct {
	Pointer func(index int) (target.Addr, bool) // the descriptor's pointer data
	// Slot returns the address in an entry of the runtime's DAC table, or why it is unknown.
	Slot func(slot int) (target.Addr, error)
}

// Add merges p. Later parts may supply globals that cannot be resolved.
func (b *Builder) Add(p *Part, at Addresses) {
	l := b.l
	src := len(l.sources)
	l.sources = append(l.sources, p.Source)
	l.refuse(p)
	renamed := p.renamed()
	for name, t := range p.types {
		if l.refused[name] != nil {
			continue
		}
		m := l.types[name]
		if m == nil {
			m = &mergedType{size: -1, fields: make(map[string]mergedField, len(t.fields))}
			l.types[name] = m
		}
		if m.size < 0 && t.size >= 0 {
			m.size, m.sizeSource = t.size, src
		}
		for f, v := range t.fields {
			if len(renamed) > 0 {
				f = cmp.Or(renamed[name+"."+f], f)
			}
			if _, have := m.fields[f]; !have {
				m.fields[f] = mergedField{v, src}
			}
		}
	}
	for name, g := range p.globals {
		name = cmp.Or(renamed[name], name)
		if _, have := l.globals[name]; have || l.refused["global "+name] != nil {
			continue
		}
		r, err := g.resolve(at)
		if err != nil {
			l.unplaced["global "+name] = err
		} else {
			r.source = src
			l.globals[name] = r
		}
	}
	for class, slot := range p.vtables {
		if _, have := l.vtables[class]; have || at.Slot == nil {
			continue
		}
		if a, err := at.Slot(slot); err == nil {
			l.vtables[class] = Global{Addr: a, source: src}
		} else {
			l.unplaced["vtable "+class] = err
		}
	}
	for _, constants := range [...]map[string]json.RawMessage{p.formats(), p.constants} {
		for name, raw := range constants {
			if _, have := l.constants[name]; !have && l.refused["constant "+name] == nil {
				l.constants[name] = constant{raw, src}
			}
		}
	}
	for name, v := range p.contracts {
		if _, have := l.contracts[name]; !have {
			l.contracts[name] = v
		}
	}
}

var errUnresolved = errors.New("its address is unknown")

func (g partGlobal) resolve(at Addresses) (Global, error) {
	switch {
	case g.direct:
		return Global{Value: g.value, Text: g.text, Direct: true}, nil
	case g.index >= 0 && at.Pointer != nil:
		if a, ok := at.Pointer(g.index); ok && a != 0 {
			return Global{Addr: a}, nil
		}
	case g.slot >= 0 && at.Slot != nil:
		a, err := at.Slot(g.slot)
		return Global{Addr: a}, err
	}
	return Global{}, errUnresolved
}

// Layout returns the merged layout. The Builder must not be used afterwards.
func (b *Builder) Layout() *Layout { return b.l }

// Offset returns the offset of a field.
func (l *Layout) Offset(typ, field string) (int, error) {
	if t := l.types[typ]; t != nil {
		if f, ok := t.fields[field]; ok {
			return f.Offset, nil
		}
	}
	if err := l.refused[typ+"."+field]; err != nil {
		return 0, &Error{Type: typ + "." + field, Reason: err}
	}
	return 0, &Error{Type: typ, Field: field, Reason: l.refused[typ]}
}

// Size returns the size of a structure in bytes.
func (l *Layout) Size(typ string) (int, error) {
	if t := l.types[typ]; t != nil && t.size >= 0 {
		return t.size, nil
	}
	return 0, &Error{Type: typ, Field: "size", Reason: l.refused[typ]}
}

// Global returns a variable of the runtime by name.
func (l *Layout) Global(name string) (Global, error) {
	if g, ok := l.globals[name]; ok {
		return g, nil
	}
	return Global{}, l.missingError("global ", name)
}

// missingError returns the error for a global or vtable that no part resolved.
func (l *Layout) missingError(kind, name string) error {
	e := &Error{Type: kind + name, Reason: l.refused[kind+name]}
	if err := l.unplaced[kind+name]; err != nil && err != errUnresolved {
		e.Reason = err
	}
	return e
}

// VTable returns the first word of a class's objects.
func (l *Layout) VTable(class string) (target.Addr, error) {
	if g, ok := l.vtables[class]; ok {
		return g.Addr, nil
	}
	return 0, l.missingError("vtable ", class)
}

// Variable returns the address of a variable of the runtime.
func (l *Layout) Variable(name string) (target.Addr, error) {
	g, err := l.Global(name)
	if err == nil && g.Direct {
		err = &Error{Type: "variable " + name}
	}
	return g.Addr, err
}

// Globals calls yield for each global in the order of names.
func (l *Layout) Globals(yield func(string, Global) bool) {
	for _, name := range slices.Sorted(maps.Keys(l.globals)) {
		if !yield(name, l.globals[name]) {
			return
		}
	}
}

// VTables calls yield for each known class with the first word of its objects.
func (l *Layout) VTables(yield func(string, target.Addr) bool) {
	for _, class := range slices.Sorted(maps.Keys(l.vtables)) {
		if !yield(class, l.vtables[class].Addr) {
			return
		}
	}
}

// Uint returns a constant of the tables, or a direct global of the descriptor.
func (l *Layout) Uint(name string) (uint64, error) {
	if g, ok := l.globals[name]; ok && g.Direct {
		return g.Value, nil
	}
	var v uint64
	if err := l.Constant(name, &v); err != nil {
		return 0, err
	}
	return v, nil
}

// Text returns a string of the descriptor.
func (l *Layout) Text(name string) (string, error) {
	g, err := l.Global(name)
	if err == nil && (!g.Direct || g.Text == "") {
		err = &Error{Type: "text " + name}
	}
	return g.Text, err
}

// Constant decodes a constant of the tables into v.
func (l *Layout) Constant(name string, v any) error {
	c, ok := l.constants[name]
	if !ok {
		return &Error{Type: "constant " + name, Reason: l.refused["constant "+name]}
	}
	if err := json.Unmarshal(c.raw, v); err != nil {
		return target.Corruptf("layout constant %s: %w", name, err)
	}
	return nil
}

// Sources lists the merged parts in the order of precedence.
func (l *Layout) Sources() []string { return l.sources }

// A Member is one member of the layout with its source.
type Member struct {
	Name   string // "Thread.OSId", "Thread.size", "global ThreadStore", "constant NibbleMap"
	Value  string
	Source string
}

// Members lists all members of the layout, sorted by name.
func (l *Layout) Members() []Member {
	var out []Member
	for _, name := range slices.Sorted(maps.Keys(l.types)) {
		t := l.types[name]
		if t.size >= 0 {
			out = append(out, Member{name + ".size", fmt.Sprint(t.size), l.sources[t.sizeSource]})
		}
		for _, f := range slices.Sorted(maps.Keys(t.fields)) {
			out = append(out, Member{name + "." + f, fmt.Sprint(t.fields[f].Offset), l.sources[t.fields[f].source]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.globals)) {
		g := l.globals[name]
		v := fmt.Sprintf("%#x", uint64(g.Addr))
		if g.Direct {
			v = fmt.Sprintf("%#x", g.Value)
			if g.Text != "" {
				v = g.Text
			}
		}
		out = append(out, Member{"global " + name, v, l.sources[g.source]})
	}
	for _, name := range slices.Sorted(maps.Keys(l.vtables)) {
		out = append(out, Member{"vtable " + name, fmt.Sprintf("%#x", uint64(l.vtables[name].Addr)), l.sources[l.vtables[name].source]})
	}
	for _, name := range slices.Sorted(maps.Keys(l.constants)) {
		out = append(out, Member{"constant " + name, strings.Join(strings.Fields(string(l.constants[name].raw)), " "), l.sources[l.constants[name].source]})
	}
	return out
}

// Absent is the offset of a missing member.
const Absent = -1

// Bind sets the int fields of the structure that dst points to, to the offsets of typ's members. The tag names
// the member, or alternatives in the order of preference. "size" is the structure's size, which is never zero:
//
//	Flags int `layout:"MTFlags2|Flags2"`
//	TEB   int `layout:"TEB,optional"`
//
// A missing optional member becomes Absent. A missing required one is an *Error.
func (l *Layout) Bind(typ string, dst any) error {
	v := reflect.ValueOf(dst).Elem()
	for i := range v.NumField() {
		tag, ok := v.Type().Field(i).Tag.Lookup("layout")
		if !ok {
			continue
		}
		names, mode, _ := strings.Cut(tag, ",")
		off, err := l.first(typ, names)
		if err == nil && off == 0 && names == "size" {
			err = &Error{Type: typ, Field: "size", Reason: target.Corruptf("it has a size of 0")}
		}
		if err != nil {
			if mode != "optional" {
				return err
			}
			off = Absent
		}
		v.Field(i).SetInt(int64(off))
	}
	return nil
}

func (l *Layout) first(typ, names string) (int, error) {
	var firstErr error
	for name := range strings.SplitSeq(names, "|") {
		off, err := l.Offset(typ, name)
		if name == "size" {
			off, err = l.Size(typ)
		}
		if err == nil {
			return off, nil
		}
		firstErr = cmp.Or(firstErr, err)
	}
	return 0, firstErr
}

// BindAll binds the structures in the fields of the structure that dst points to. The field, or its tag, names
// the structure in the layout. If the layout lacks an optional structure, all its members become Absent:
//
//	Chunk struct{ … } `struct:"MethodDescChunk"`
//	SHash struct{ … } `struct:"SHash,optional"`
//	Thread struct{ … } `struct:",refusable"` // absent if its contract is refused, otherwise required
func (l *Layout) BindAll(dst any) error {
	v := reflect.ValueOf(dst).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, mode, _ := strings.Cut(f.Tag.Get("struct"), ",")
		name = cmp.Or(name, f.Name)
		if err := l.Bind(name, v.Field(i).Addr().Interface()); err != nil {
			if mode != "optional" && (mode != "refusable" || !IsRefused(l.refused[name])) {
				return err
			}
			setAbsent(v.Field(i))
		}
	}
	return nil
}

// SetAllAbsent sets all members of the structures in the structure that dst points to, to Absent, as BindAll
// does for missing structures.
func SetAllAbsent(dst any) {
	v := reflect.ValueOf(dst).Elem()
	for i := range v.NumField() {
		setAbsent(v.Field(i))
	}
}

func setAbsent(v reflect.Value) {
	for i := range v.NumField() {
		if v.Field(i).CanSet() {
			v.Field(i).SetInt(Absent)
		}
	}
}
