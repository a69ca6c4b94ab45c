package objects

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// StringChars is how many UTF-16 code units of a string are read for the answer
// about an object: SOS's limit. WriteText has all.
const StringChars = 0x200000

// contentChars is how many elements of a byte or character array are read as
// text.
const contentChars = 128

// DescribeOptions choose parts of the answer about an object.
type DescribeOptions struct {
	NoFields   bool // leave the fields out
	References bool // list what the object refers to
}

// Describe says all that is known of the object at a. An address that holds no
// object is target.ErrCorrupt.
func (r *Reader) Describe(ctx context.Context, a target.Addr, o DescribeOptions) (*answer.Object, error) {
	obj, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	d := &describer{r: r}
	return d.object(ctx, obj, o), ctx.Err()
}

// DescribeLoadContext describes the AssemblyLoadContext that the type of the
// object at a was loaded into. No object stands for the default one unless
// managed code has asked for it.
func (r *Reader) DescribeLoadContext(ctx context.Context, a target.Addr) (*answer.LoadContext, error) {
	o, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	m, err := o.Type.Module()
	if err != nil {
		return nil, err
	}
	alc, err := m.LoadContext()
	if err != nil {
		return nil, err
	}
	if alc == 0 {
		return &answer.LoadContext{Default: true}, nil
	}
	object, err := r.Describe(ctx, alc, DescribeOptions{})
	if err != nil {
		return nil, err
	}
	return &answer.LoadContext{Object: object}, nil
}

// object describes o; what is missing is noted in the answer.
func (d *describer) object(ctx context.Context, o Object, options DescribeOptions) *answer.Object {
	t := o.Type
	a := &answer.Object{Address: o.Addr, MethodTable: t.MT.Addr, Free: o.IsFree()}
	d.note = a.Note
	a.Type = a.Text(t.Name())
	a.Size.Value, a.Size.Err = o.Size()
	a.Note(a.Size.Err)
	if t.MT.HasComponents() && a.Size.Err == nil {
		n, _ := o.Length() // Size has read it
		a.Length = &n
	}
	if options.References {
		a.HasReferences = true
		for ref, err := range o.references(ctx) {
			if err != nil {
				a.Note(err)
				continue
			}
			a.References = append(a.References, ref)
		}
	}
	if a.Free {
		return a
	}
	a.File = d.file(t)
	switch {
	case o.IsString():
		d.string(a, o)
	case t.MT.IsArray():
		d.array(a, o)
	case o.IsBoxed():
		v := o.Boxed()
		a.Boxed = v.appendPlain(nil, LineChars, 0)
	}
	d.runtimeType(a, o)
	d.thinLock(a, o)
	switch {
	case options.NoFields:
	case t.MT.IsArray():
		a.FieldList = &answer.FieldList{}
	default:
		a.FieldList = d.fields(t, o.data(), objectHeader)
		if r := t.r.rt; r.IsNative() && !t.MT.HasComponents() {
			a.Words = d.words(ctx, o)
		}
	}
	return a
}

// wordsOfObject bounds the words of an object that are listed.
const wordsOfObject = 64

// words are what an object holds whose fields are not known.
func (d *describer) words(ctx context.Context, o Object) []answer.Word {
	obj, err := o.Heap()
	if err != nil {
		d.note(err)
		return nil
	}
	refers := map[target.Addr]target.Addr{}
	edges := heap.NewEdges(d.r.rt, heap.EdgeOptions{})
	for ref, err := range edges.Of(&obj) {
		if err == nil && ctx.Err() == nil {
			refers[ref.Slot] = ref.Target
		}
	}
	var out []answer.Word
	// The last word of an object's size is the header of the one behind it.
	for at := o.data(); at+dac.ObjectHeaderBytes < o.Addr+target.Addr(obj.Size); at += 8 {
		if len(out) == wordsOfObject {
			d.note(target.Unsupportedf("of the %d bytes of the object the first %d words are listed: dq shows the others", obj.Size, wordsOfObject))
			break
		}
		v, err := target.Uint64(d.r.mem, at)
		if err != nil {
			d.note(err)
			return out
		}
		w := answer.Word{Offset: uint64(at - o.Addr), Value: answer.Hex(v)}
		if to := refers[at]; to != 0 {
			w.Type.S, w.Type.Err = d.r.typeNameAt(to)
		}
		out = append(out, w)
	}
	return out
}

// string adds the text of a string.
func (d *describer) string(a *answer.Object, o Object) {
	s, err := o.Text(StringChars)
	if err != nil {
		d.note(err)
		a.StringStart, a.StringErr = s, err
		return
	}
	a.String = &s
}

// array adds the bounds of an array, and its content if that reads as text.
func (d *describer) array(a *answer.Object, o Object) {
	arr, err := o.Array()
	if err != nil {
		d.note(err)
		a.ArrayErr = err
		return
	}
	a.Rank, a.Lengths, a.LowerBounds = arr.Rank, arr.Lengths, arr.LowerBounds
	a.ElementWord = arr.elementWord()
	switch arr.ElementType() {
	case metadata.ElementI1, metadata.ElementU1, metadata.ElementChar:
		if t := arr.Element(); t == nil || !t.IsEnum() {
			text := d.text(arr.content())
			a.Content = &text
		}
	}
}

// elementWord is SOS's word for the elements: an enum counts as a struct.
func (a *Array) elementWord() string {
	t := a.Element()
	switch {
	case t == nil:
		return dac.CorTypeWord(metadata.ElementPtr)
	case t.MT.Category() == dac.CategorySZArray:
		return dac.CorTypeWord(metadata.ElementSZArray)
	case t.MT.Category() == dac.CategoryArray:
		return dac.CorTypeWord(metadata.ElementArray)
	case t.IsEnum():
		return dac.CorTypeWord(metadata.ElementValueType)
	}
	return dac.CorTypeWord(a.ElementType())
}

// content is the first elements read as ASCII.
func (a *Array) content() (string, error) {
	text := make([]byte, 0, contentChars)
	for n, v := range a.Values() {
		if n == contentChars {
			break
		}
		bits, err := v.Bits()
		if err != nil {
			return "", err
		}
		if bits < 0x20 || bits > 0x7e {
			bits = '.'
		}
		text = append(text, byte(bits))
	}
	return string(text), nil
}

// runtimeType adds which type a System.RuntimeType object stands for.
func (d *describer) runtimeType(a *answer.Object, o Object) {
	th, ok, err := o.RuntimeType()
	if !ok {
		return
	}
	var name answer.Text
	if err != nil {
		name = d.text("", err)
	} else {
		a.RuntimeType = &th
		name = d.text(d.r.rt.TypeHandleName(th, dac.NameNative))
	}
	a.RuntimeTypeName = &name
}

// thinLock adds the lock that the object's header holds.
func (d *describer) thinLock(a *answer.Object, o Object) {
	h, err := d.r.rt.ObjectHeader(o.Addr)
	if err != nil {
		d.note(err)
		return
	}
	lock, ok := d.r.rt.ThinLock(h)
	if !ok {
		return
	}
	a.ThinLock = &answer.ObjectLock{Owner: lock.Owner, Recursion: lock.Recursion}
	for _, t := range d.managedThreads() {
		if t.ManagedID == lock.Owner {
			a.ThinLock.Thread = t.Addr
			break
		}
	}
}

// DescribeStruct says all that is known of the value of type mt at a. A type
// that is no value type is target.ErrUnsupported.
func (r *Reader) DescribeStruct(mt, a target.Addr) (*answer.Struct, error) {
	s, err := r.Struct(mt, a)
	if err != nil {
		return nil, err
	}
	d := &describer{r: r}
	return d.structure(s, DescribeOptions{}), nil
}

// structure describes s; what is missing is noted in the answer.
func (d *describer) structure(s Struct, options DescribeOptions) *answer.Struct {
	mt := s.Type.MT
	a := &answer.Struct{Address: s.Addr, MethodTable: mt.Addr, Size: uint64(mt.BaseSize), Text: s.appendInline(nil, LineChars, 0)}
	d.note = a.Note
	a.Type = d.text(s.Type.Name())
	a.Class = d.class(s.Type)
	a.File = d.file(s.Type)
	if !options.NoFields {
		a.FieldList = d.fields(s.Type, s.Addr, 0)
	}
	return a
}

func (d *describer) class(t *Type) answer.Class {
	if d.r.rt.CanonicalForClass() {
		return answer.Class{Addr: t.MT.Canonical, Canonical: true}
	}
	class, err := d.r.rt.EEClass(t.MT)
	if err != nil {
		d.note(err)
		return answer.Class{Err: err}
	}
	return answer.Class{Addr: class.Addr}
}
