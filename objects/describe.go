package objects

import (
	"cmp"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// LineChars is how many UTF-16 code units of a string stand in the line of a
// value in an answer, at most; forms may show fewer.
const LineChars = 256

// A describer puts answers about objects together. It is for one answer and one
// goroutine.
type describer struct {
	r    *Reader
	note func(error) // is told what is missing

	threads    []dac.Thread
	hasThreads bool
}

// managedThreads are the runtime's threads, read once.
func (d *describer) managedThreads() []dac.Thread {
	if !d.hasThreads {
		var err error
		if d.threads, err = d.r.rt.Threads(); err != nil {
			d.note(err)
		}
		d.hasThreads = true
	}
	return d.threads
}

// missing notes err, unless that is nil.
func (d *describer) missing(err error) {
	if err != nil {
		d.note(err)
	}
}

// text notes why s is missing.
func (d *describer) text(s string, err error) answer.Text {
	d.missing(err)
	return answer.Text{S: s, Err: err}
}

// file is the file of the module that defines t, empty for a module without
// one.
func (d *describer) file(t *Type) answer.Text {
	m, err := t.Module()
	if err != nil {
		return d.text("", err)
	}
	return d.text(m.File())
}

// stored is a value with its text, or why it is missing.
func (d *describer) stored(v Value) answer.Stored {
	if err := v.Err(); err != nil {
		d.note(err)
		return answer.Stored{Missing: answer.Reason{Err: err}}
	}
	s := answer.Stored{Value: v.answer()}
	if s.Value.Kind != KindBool { // its text says no more
		s.Text = v.Line(LineChars)
	}
	if v.Kind() == KindStruct {
		s.Members = d.members(v, 0)
	}
	return s
}

// Stored is the value as an answer has it.
func (v Value) Stored() answer.Stored {
	d := &describer{r: v.r, note: func(error) {}}
	return d.stored(v)
}

// members are the fields of a value type in place, or the elements of an inline array,
// as deep and as many as a line of text shows of them or more. Where some can't be told
// the last one, without a name, says why.
func (d *describer) members(v Value, depth int) answer.Members {
	const most = 256
	if depth > inlineDepth {
		return answer.Members{}
	}
	return answer.NewMembers(func() []answer.Member {
		s, err := v.Struct()
		if err != nil {
			return []answer.Member{missingMember(err)}
		}
		fields, err := s.Type.Fields()
		out := make([]answer.Member, 0, min(len(fields), most))
		add := func(name answer.Text, v Value) bool {
			part := answer.Member{Name: name}
			if err := v.Err(); err != nil {
				part.Missing = answer.Reason{Err: err}
			} else {
				part.Value = v.answer()
				part.Text = v.inline(LineChars, depth+1)
				if v.Kind() == KindStruct {
					part.Members = d.members(v, depth+1)
				}
			}
			out = append(out, part)
			return len(out) < most
		}
		n, rowErr := s.Type.InlineLength()
		if n > 0 {
			for i, v := range s.Elements() {
				if !add(answer.Text{S: strconv.Itoa(i)}, v) {
					break
				}
			}
			return out
		}
		for f, v := range s.Fields() {
			if !add(f.name(), v) {
				break
			}
		}
		if err = cmp.Or(err, rowErr); err != nil {
			out = append(out, missingMember(err))
		}
		return out
	})
}

// missingMember stands for members that are not known.
func missingMember(err error) answer.Member {
	return answer.Member{Name: answer.Text{Err: err}, Stored: answer.Stored{Missing: answer.Reason{Err: err}}}
}

// Fields lists the fields of the type mt without an instance: statics have
// values, instance fields only offsets. What is missing is noted by note.
func (r *Reader) Fields(mt target.Addr, note func(error)) (*answer.FieldList, error) {
	t, err := r.Type(mt)
	if err != nil {
		return nil, err
	}
	d := &describer{r: r, note: note}
	return d.fields(t, 0, objectHeader), nil
}

// objectHeader is how many bytes stand before the fields of an object: SOS counts the
// offsets of fields from there.
const objectHeader = 8

// fields lists all fields of t. data is where the instance's are, 0 if there is
// no instance, and header the bytes before them that count in offsets.
func (d *describer) fields(t *Type, data target.Addr, header uint32) *answer.FieldList {
	fields, err := t.Fields()
	if err != nil {
		d.note(err)
	}
	list := &answer.FieldList{Fields: make([]answer.Field, len(fields)), FieldsErr: err}
	for i, f := range fields {
		d.field(&list.Fields[i], f, data)
		list.Fields[i].Inherited = f.Declaring != t
		list.Fields[i].InObject = f.Offset
		if !f.Thread {
			list.Fields[i].InObject += header
		}
	}
	return list
}

func (d *describer) field(a *answer.Field, f *Field, data target.Addr) {
	*a = answer.Field{Token: f.Token.String(), Offset: f.Offset, Kind: answer.FieldInstance, InPlace: f.InPlace()}
	a.Name = f.name()
	if err := f.Err(); err != nil {
		d.note(err)
	}
	a.Declaring.Value, a.Declaring.Err = f.Declaring.Name()
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

// name is the field's name, or why it is unknown.
func (f *Field) name() answer.Text {
	if f.Name == "" {
		return answer.Text{Err: f.err}
	}
	return answer.Text{S: f.Name}
}

// fieldType fills in the field's type as the instance has it, and as SOS sees
// it.
func (d *describer) fieldType(a *answer.Field, f *Field) {
	a.Type.S, a.Type.Err = f.TypeName(dac.NameNative)
	a.MethodTable = answer.Of(f.TypeHandle())
	if f.Err() == nil { // that is noted once
		d.missing(a.Type.Err)
		d.missing(a.MethodTable.Err)
	}
	a.Exact = d.typeName(f, a.MethodTable)
	if a.Type.Err == nil {
		a.Exact.Name = a.Type
	}
	a.Shared = d.typeName(f, answer.Of(f.SharedTypeHandle()))
}

// typeName is the type of a field as SOS lists it. A type that has no
// MethodTable of its own goes by its element type, a pointer as a number of its
// size.
func (d *describer) typeName(f *Field, th answer.Maybe[target.Addr]) answer.TypeName {
	rt := d.r.rt
	mt := th
	switch {
	case f.ElementType == metadata.ElementFnPtr:
		mt = answer.Of(rt.CorType(metadata.ElementI))
	case th.Err != nil:
	case f.ElementType == metadata.ElementPtr && th.Value != 0:
		mt = answer.Of(rt.CorType(metadata.ElementU))
	default:
		mt = answer.Of(rt.TypeHandleMethodTable(th.Value))
	}
	if th.Err == nil {
		d.missing(mt.Err)
	}
	return answer.TypeName{MethodTable: mt, Name: d.listedName(f, mt)}
}

func (d *describer) listedName(f *Field, mt answer.Maybe[target.Addr]) answer.Text {
	et := f.ElementType
	class := et == metadata.ElementClass || et == metadata.ElementValueType
	if class && mt.Err == nil && mt.Value != 0 {
		name, err := d.r.rt.TypeName(mt.Value, dac.NameNative)
		sig := f.Signature()
		if err != nil && sig != nil && sig.Kind == et { // the field's declaration may name what the dump lacks
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

// static is what a static holds.
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
		p.Missing.Err = answer.ErrNotInitialised
		if s.Slot != 0 {
			so := d.stored(s.Stored)
			p.SoFar = &so
		}
	}
	return p
}

// threadValues are the values of a thread static in the threads that have used
// it.
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

// elementName is SOS's name for an element type without a MethodTable.
func elementName(et metadata.ElementType) string {
	if name := dac.CorTypeName(et); name != "" {
		return name
	}
	return dac.CorTypeWord(et)
}

// Storer returns a function that tells of values as answers do. It is for one goroutine.
func (r *Reader) Storer() func(Value) answer.Stored {
	d := &describer{r: r, note: func(error) {}}
	return d.stored
}
