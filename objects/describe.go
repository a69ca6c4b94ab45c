package objects

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// LineChars is the maximum number of UTF-16 code units of a string in an answer's one-line value.
const LineChars = 256

// A describer builds answers about objects. It is for one answer and one goroutine.
type describer struct {
	r    *Reader
	note func(error)         // records a missing part
	mask func(string) string // hides secrets; nil without masking

	threads    []dac.Thread
	hasThreads bool

	// A Scratch reuses this memory after Reset. Other describers allocate.
	scratch bool
	pieces  answer.Line
	parts   []answer.Member
	listOf  *Type // the type that list is for
	list    func(at target.Addr, depth int) []answer.Member
	lists   map[*Type]func(at target.Addr, depth int) []answer.Member
}

func (d *describer) line(v *Value, depth int) answer.Line {
	if !d.scratch {
		return v.appendInline(nil, LineChars, depth)
	}
	from := len(d.pieces)
	d.pieces = v.appendInline(d.pieces, LineChars, depth)
	if len(d.pieces) == from {
		return nil
	}
	return d.pieces[from:len(d.pieces):len(d.pieces)]
}

// managedThreads returns the runtime's threads. It reads them once.
func (d *describer) managedThreads() []dac.Thread {
	if !d.hasThreads {
		var err error
		if d.threads, err = d.r.Runtime().Threads(); err != nil {
			d.note(err)
		}
		d.hasThreads = true
	}
	return d.threads
}

// noteMissing records err if it is not nil.
func (d *describer) noteMissing(err error) {
	if err != nil {
		d.note(err)
	}
}

// text records err as the reason why s is missing.
func (d *describer) text(s string, err error) answer.Text {
	d.noteMissing(err)
	return answer.Text{S: s, Err: err}
}

// file returns the file of the module that defines t. It is empty for a module without a file.
func (d *describer) file(t *Type) answer.Text {
	m, err := t.Module()
	if err != nil {
		return d.text("", err)
	}
	return d.text(m.File())
}

// stored returns a value with its text, or with the reason why it is missing.
func (d *describer) stored(v Value) answer.Stored {
	if err := v.Err(); err != nil {
		d.note(err)
		return answer.Stored{Missing: answer.Reason{Err: err}}
	}
	if d.hides(&v) {
		return hidden(&v)
	}
	if line, ok := d.pair(&v); ok {
		return answer.Stored{Value: v.answer(), Text: line}
	}
	if err := v.Hidden(d.mask); err != nil {
		return answer.Stored{Missing: answer.Reason{Err: err}}
	}
	s := answer.Stored{Value: v.answer()}
	if s.Value.Kind != KindBool { // the text of a Boolean only repeats its value
		s.Text = d.line(&v, 0)
		d.noteMissing(s.Text.Err())
	}
	if v.Kind() == KindStruct {
		s.Members = d.members(&v, 0)
	}
	return s
}

// A Scratch formats many values for answers, one after the other, and reuses memory. It is not safe for concurrent use.
type Scratch struct{ d describer }

// NewScratch returns a Scratch for values of the reader.
func (r *Reader) NewScratch() *Scratch {
	return &Scratch{describer{r: r, note: func(error) {}, scratch: true}}
}

// Stored returns the value as in answers. Its text and members are valid until Reset.
func (s *Scratch) Stored(v Value) answer.Stored { return s.d.stored(v) }

// Reset reuses the memory of everything that Stored has returned.
func (s *Scratch) Reset() { s.d.pieces, s.d.parts = s.d.pieces[:0], s.d.parts[:0] }

// Stored returns the value as in answers.
func (v Value) Stored() answer.Stored { return v.StoredMasked(nil) }

// StoredMasked is Stored for answers in which mask hides secrets: the value, or members of it, may be hidden. mask may be nil.
func (v Value) StoredMasked(mask func(string) string) answer.Stored {
	d := &describer{r: v.r, note: func(error) {}, mask: mask}
	return d.stored(v)
}

// members returns the fields of a value type in place, or the elements of an inline array. It returns at least those
// that a line of text shows. If some are missing, the last member has no name and carries the reason.
func (d *describer) members(v *Value, depth int) answer.Members {
	if depth > inlineDepth {
		return answer.Members{}
	}
	s, err := v.Struct()
	if err != nil {
		return answer.NewMembers(func() []answer.Member { return []answer.Member{missingMember(err)} })
	}
	return answer.MembersAt(d.lister(s.Type), s.Addr, depth)
}

// lister returns a function that lists the members of values of type t.
func (d *describer) lister(t *Type) func(at target.Addr, depth int) []answer.Member {
	if d.listOf == t {
		return d.list
	}
	list := d.lists[t]
	if list == nil {
		list = func(at target.Addr, depth int) []answer.Member {
			return d.listMembers(Struct{Addr: at, Type: t}, depth)
		}
		if d.lists == nil {
			d.lists = map[*Type]func(target.Addr, int) []answer.Member{}
		}
		d.lists[t] = list
	}
	d.listOf, d.list = t, list
	return list
}

// mostMembers bounds the listed members of one value.
const mostMembers = 256

func (d *describer) listMembers(s Struct, depth int) []answer.Member {
	fields, err := s.Type.allFields()
	var out []answer.Member
	from := len(d.parts)
	if d.scratch {
		out = d.parts
	} else {
		out, from = make([]answer.Member, 0, min(len(fields), mostMembers)), 0
	}
	n, rowErr := s.Type.elements()
	if n > 0 {
		for i, v := range s.Elements() {
			if out = append(out, d.member(answer.Text{S: strconv.Itoa(i)}, &v, depth)); len(out)-from == mostMembers {
				break
			}
		}
	} else {
		memory := s.Type.view(s.Addr)
		for _, f := range fields {
			if f.Static {
				continue
			}
			v := f.readFrom(memory, s.Addr)
			if out = append(out, d.member(f.name(), &v, depth)); len(out)-from == mostMembers {
				break
			}
		}
		if err = cmp.Or(err, rowErr); err != nil {
			out = append(out, missingMember(err))
		}
	}
	if d.scratch {
		d.parts = out
	}
	return out[from:len(out):len(out)]
}

func (d *describer) member(name answer.Text, v *Value, depth int) answer.Member {
	m := answer.Member{Name: name}
	if err := v.Err(); err != nil {
		m.Missing = answer.Reason{Err: err}
		return m
	}
	if d.hides(v) {
		m.Stored = hidden(v)
		return m
	}
	m.Value = v.answer()
	if line, ok := d.pair(v); ok {
		m.Text = line
		return m
	}
	m.Text = d.line(v, depth+1)
	if v.Kind() == KindStruct {
		m.Members = d.members(v, depth+1)
	}
	return m
}

// missingMember returns a member that stands for unreadable members.
func missingMember(err error) answer.Member {
	return answer.Member{Name: answer.Text{Err: err}, Stored: answer.Stored{Missing: answer.Reason{Err: err}}}
}

// fieldList lists the fields of the type mt without an instance: statics have values, instance fields only offsets. It
// calls note with the error of each missing part.
func (r *Reader) fieldList(mt target.Addr, note func(error)) (answer.FieldList, error) {
	t, err := r.TrustedType(mt)
	if err != nil {
		return answer.FieldList{FieldsErr: err}, err
	}
	d := &describer{r: r, note: note}
	return d.fields(t, 0, objectHeader), nil
}

// objectHeader is the number of bytes before the fields of an object. SOS counts field offsets from the object's start.
const objectHeader = 8

// fields lists all fields of t. data is the address of the fields, or 0 without an instance. header is added to
// offsets.
func (d *describer) fields(t *Type, data target.Addr, header uint32) answer.FieldList {
	fields, err := t.allFields()
	if err != nil {
		d.note(err)
	}
	list := answer.FieldList{Fields: make([]answer.Field, len(fields)), FieldsErr: err}
	for i, f := range fields {
		d.field(&list.Fields[i], f, data)
		list.Fields[i].Inherited = f.Declaring != t
		list.Fields[i].InObject = f.Offset
		if !f.Thread {
			list.Fields[i].InObject += header
		}
	}
	if d.mask == nil || data == 0 {
		return list
	}
	pairs := t.Pairs()
	for i := range pairs {
		if p := &pairs[i]; p.IsSecret(data) {
			v := p.Value.At(data)
			list.Fields[slices.Index(fields, p.Value)].Place.Stored = hidden(&v)
		}
	}
	return list
}

func (d *describer) field(a *answer.Field, f *Field, data target.Addr) {
	*a = answer.Field{Token: f.Token.String(), Offset: f.Offset, Kind: answer.FieldInstance, InPlace: f.inPlace()}
	a.Name = f.name()
	if err := f.Err(); err != nil {
		d.note(err)
	}
	a.Declaring = answer.Of(f.Declaring.Name())
	d.fieldType(a, f)
	switch {
	case f.Static && f.Thread:
		a.Kind = answer.FieldThreadStatic
		a.Threads = d.threadValues(f)
	case f.Static:
		a.Kind = answer.FieldStatic
		a.Place = d.static(f.StaticValue())
	case data != 0:
		v := f.At(data)
		at := v.Location()
		a.Place = answer.Place{Address: &at, Slot: at, Stored: d.stored(v)}
	}
}

// name returns the field's name, or the reason why it is unknown.
func (f *Field) name() answer.Text {
	if f.Name == "" {
		return answer.Text{Err: f.err}
	}
	return answer.Text{S: f.Name}
}

// fieldType fills in the field's type, both as declared for the instance and as SOS shows it.
func (d *describer) fieldType(a *answer.Field, f *Field) {
	a.Type.S, a.Type.Err = f.TypeName(dac.NameNative)
	a.MethodTable = answer.Of(f.TypeHandle())
	if f.Err() == nil { // otherwise noted already
		d.noteMissing(a.Type.Err)
		d.noteMissing(a.MethodTable.Err())
	}
	a.Exact = d.typeName(f, a.MethodTable)
	if a.Type.Err == nil {
		a.Exact.Name = a.Type
	}
	a.Shared = d.typeName(f, answer.Of(f.sharedTypeHandle()))
}

// typeName returns the type name of a field as SOS prints it. A type without a MethodTable has the name of its element
// type. A pointer is an integer of its size.
func (d *describer) typeName(f *Field, th answer.Maybe[target.Addr]) answer.TypeName {
	rt := d.r.Runtime()
	mt := th
	switch {
	case f.ElementType == metadata.ElementFnPtr:
		mt = answer.Of(rt.CorType(metadata.ElementI))
	case th.Err() != nil:
	case f.ElementType == metadata.ElementPtr && th.Value != 0:
		mt = answer.Of(rt.CorType(metadata.ElementU))
	default:
		mt = answer.Of(rt.TypeHandleMethodTable(th.Value))
	}
	if th.Err() == nil {
		d.noteMissing(mt.Err())
	}
	return answer.TypeName{MethodTable: mt, Name: d.listedName(f, mt)}
}

func (d *describer) listedName(f *Field, mt answer.Maybe[target.Addr]) answer.Text {
	et := f.ElementType
	class := et == metadata.ElementClass || et == metadata.ElementValueType
	if class && mt.Err() == nil && mt.Value != 0 {
		name, err := d.r.Runtime().TypeName(mt.Value, dac.NameNative)
		sig := f.Signature()
		if err != nil && sig != nil && sig.Kind == et { // the declaration may name a type that is not in the dump
			if declared, lacks := f.TypeName(dac.NameNative); lacks == nil {
				name, err = declared, nil
			}
		}
		return d.text(name, err)
	}
	if sig := f.Signature(); class && sig != nil {
		if sig.Kind == metadata.ElementClass {
			if name, err := f.TypeName(dac.NameNative); err == nil {
				return answer.Text{S: name}
			}
		}
		et = sig.Kind
	}
	return answer.Text{S: elementName(et)}
}

func (d *describer) static(s Static) answer.Place {
	p := answer.Place{Slot: s.Slot}
	if s.Err != nil {
		d.note(s.Err)
		p.Missing.Err = s.Err
		return p
	}
	switch s.State {
	case dac.StaticReady, dac.StaticUnknown:
		p.Address, p.Stored = &s.Slot, d.stored(s.Stored)
		p.Doubtful = s.State == dac.StaticUnknown
	default:
		if p.Missing.Err = answer.ErrNotInitialised; s.State == dac.StaticFailed {
			p.Missing.Err = answer.ErrInitializerFailed
		}
		if s.Slot != 0 {
			so := d.stored(s.Stored)
			p.SoFar = &so
		}
	}
	return p
}

// threadValues returns the values of a thread static in the threads that have used it.
func (d *describer) threadValues(f *Field) []answer.ThreadValue {
	var out []answer.ThreadValue
	threads := d.managedThreads()
	for i := range threads {
		if threads[i].OSID == 0 {
			continue
		}
		s := f.ThreadStatic(&threads[i])
		v := answer.ThreadValue{Thread: threads[i].OSID, Address: s.Slot}
		switch {
		case s.Err != nil:
			d.note(s.Err)
			v.Missing.Err = s.Err
		case s.State != dac.StaticReady:
			continue
		default:
			v.Stored = d.stored(s.Stored)
		}
		out = append(out, v)
	}
	return out
}

// elementName returns SOS's name for an element type without a MethodTable.
func elementName(et metadata.ElementType) string {
	if name := dac.CorTypeName(et); name != "" {
		return name
	}
	return dac.CorTypeWord(et)
}

// Storer returns a function that formats values for answers. The function is not safe for concurrent use.
func (r *Reader) Storer() func(Value) answer.Stored {
	d := &describer{r: r, note: func(error) {}}
	return d.stored
}
