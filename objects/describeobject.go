package objects

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// StringChars is the maximum number of UTF-16 code units of a string in the answer about an object, as in SOS.
// WriteText has no limit.
const StringChars = 0x200000

// contentChars is the number of elements of a byte or character array that are read as text.
const contentChars = 128

// DescribeOptions selects parts of the answer about an object.
type DescribeOptions struct {
	NoFields   bool `opt:"nofields" help:"no fields"`
	References bool `opt:"refs" help:"the objects that it refers to, as the GC sees them"`
}

// Describe describes the object at a. The error is target.ErrCorrupt if there is no object.
func (r *Reader) Describe(ctx context.Context, a target.Addr, o DescribeOptions) (*answer.Object, error) {
	obj, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	d := &describer{r: r, mask: secrets.MaskOf(ctx)}
	return d.object(ctx, obj, o), ctx.Err()
}

// DescribeLoadContext describes the AssemblyLoadContext of the type of the object at a. The default context has an
// object only if managed code has requested it.
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

// object describes o. Missing parts are recorded in the answer.
func (d *describer) object(ctx context.Context, o Object, options DescribeOptions) *answer.Object {
	t := o.Type
	a := &answer.Object{Address: o.Addr, MethodTable: t.MT.Addr, Free: o.IsFree()}
	d.note = a.Note
	a.Type = a.Text(t.Name())
	a.Size = answer.Of(o.Size())
	a.Note(a.Size.Err())
	if t.MT.HasComponents() && a.Size.Err() == nil {
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
		if v.Hidden(d.mask) != nil {
			v = unreadable(answer.ErrHidden)
		}
		a.Boxed = v.appendPlain(nil, LineChars, 0)
	}
	d.runtimeType(a, o)
	d.thinLock(a, o)
	switch {
	case options.NoFields:
	case t.MT.IsArray():
		a.Fields = []answer.Field{}
	default:
		a.FieldList = d.fields(t, o.data(), objectHeader)
		d.hideFirst(a)
		if t.r.Runtime().Check(dac.FeatureFields) != nil && !t.MT.HasComponents() {
			a.Words = d.words(ctx, o)
		}
	}
	return a
}

// wordsOfObject bounds the listed words of an object.
const wordsOfObject = 64

// words returns the words of an object with unknown fields.
func (d *describer) words(ctx context.Context, o Object) []answer.Word {
	obj, err := o.Heap()
	if err != nil {
		d.note(err)
		return nil
	}
	refers := map[target.Addr]target.Addr{}
	edges := heap.NewEdges(d.r.Runtime(), heap.EdgeOptions{})
	for ref, err := range edges.Of(&obj) {
		if err == nil && ctx.Err() == nil {
			refers[ref.Slot] = ref.Target
		}
	}
	var out []answer.Word
	// The last word of an object's size is the header of the next object.
	for at := o.data(); at+dac.ObjectHeaderBytes < o.Addr+target.Addr(obj.Size); at += 8 {
		if len(out) == wordsOfObject {
			d.note(target.Unsupportedf("the object has %d bytes, and the first %d words are listed: dq shows the others", obj.Size, wordsOfObject))
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

// hideFirst hides the character in the fields of a string with a secret, or with text that can't be read.
func (d *describer) hideFirst(a *answer.Object) {
	if d.mask == nil || a.StringErr == nil && (a.String == nil || d.mask(*a.String) == *a.String) {
		return
	}
	for i := range a.Fields {
		if f := &a.Fields[i]; f.Value.Kind == answer.KindChar {
			f.Stored = answer.Stored{Missing: answer.Reason{Err: answer.ErrHidden}}
		}
	}
}

func (d *describer) string(a *answer.Object, o Object) {
	s, err := o.Text(StringChars)
	if err != nil {
		d.note(err)
		a.StringStart, a.StringErr = s, err
		return
	}
	if a.Length != nil && *a.Length > StringChars {
		s = secrets.CutEnd(s, d.mask)
	}
	a.String = &s
}

// array adds the bounds of an array, and its content if that is text.
func (d *describer) array(a *answer.Object, o Object) {
	arr, err := o.Array()
	if err != nil {
		d.note(err)
		a.ArrayErr = err
		return
	}
	a.Rank, a.Lengths, a.LowerBounds = arr.Rank, arr.Lengths, arr.LowerBounds
	a.ElementWord = arr.elementWord()
	switch arr.elem {
	case metadata.ElementI1, metadata.ElementU1, metadata.ElementChar:
		if t := arr.Element(); t == nil || !t.IsEnum() {
			text := d.text(arr.content(d.mask))
			a.Content = &text
		}
	}
}

// elementWord returns SOS's word for the kind of the elements. For SOS an enum is a struct.
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
	return dac.CorTypeWord(a.elem)
}

// content returns the first elements as text, with a dot for each that is no character of ASCII. Secrets are masked in the text that the elements
// stand for, before it has dots.
func (a *Array) content(mask func(string) string) (string, error) {
	units := make([]byte, 0, 2*contentChars) // as they are stored
	size := int(a.Type.MT.ComponentSize)
	text := make([]byte, 0, contentChars)
	for n, v := range a.Values() {
		if n == contentChars {
			break
		}
		bits, err := v.Bits()
		if err != nil {
			return "", err
		}
		if units = append(units, byte(bits)); size > 1 {
			units = append(units, byte(bits>>8))
		}
		text = append(text, shownUnit(bits))
	}
	if mask == nil {
		return string(text), nil
	}
	if masked, changed := maskUnits(units, size, a.Len <= contentChars, mask); changed {
		return masked, nil
	}
	return string(text), nil
}

func shownUnit[T uint64 | rune](unit T) byte {
	if unit < 0x20 || unit > 0x7e {
		return '.'
	}
	return byte(unit)
}

// maskUnits returns the text that bytes of UTF-8, or units of UTF-16, stand for, masked and then with dots as content has them. Bytes that have a
// secret in UTF-16 are hidden. whole reports whether nothing follows them. changed is false if there are no secrets.
func maskUnits(units []byte, size int, whole bool, mask func(string) string) (masked string, changed bool) {
	if !whole {
		part := mask
		mask = func(s string) string { return secrets.CutEnd(s, part) }
	}
	text := string(units)
	if size > 1 {
		text = utf16text.String(units)
	} else {
		for from := range min(2, len(units)) {
			if wide := utf16text.String(units[from:]); mask(wide) != wide {
				return secrets.Mask, true
			}
		}
	}
	masked = mask(text)
	if masked == text {
		return "", false
	}
	var b []byte
	if size == 1 {
		for _, c := range []byte(masked) {
			b = append(b, shownUnit(rune(c)))
		}
		return string(b), true
	}
	for _, r := range utf16text.Runes(masked) {
		b = append(b, shownUnit(r))
	}
	return string(b), true
}

// runtimeType adds the type that a System.RuntimeType object represents.
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
		name = d.text(d.r.Runtime().TypeName(th, dac.NameNative))
	}
	a.RuntimeTypeName = &name
}

// thinLock adds the lock in the object's header.
func (d *describer) thinLock(a *answer.Object, o Object) {
	h, err := d.r.Runtime().ObjectHeader(o.Addr)
	if err != nil {
		d.note(err)
		return
	}
	lock, ok := d.r.Runtime().ThinLock(h)
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

// DescribeStruct describes the value of type mt at a. The error is target.ErrUnsupported if mt is not a value type.
func (r *Reader) DescribeStruct(mt, a target.Addr) (*answer.Struct, error) {
	s, err := r.Struct(mt, a)
	if err != nil {
		return nil, err
	}
	d := &describer{r: r}
	return d.structure(s, DescribeOptions{}), nil
}

// structure describes s. Missing parts are recorded in the answer.
func (d *describer) structure(s Struct, options DescribeOptions) *answer.Struct {
	mt := s.Type.MT
	a := &answer.Struct{Address: s.Addr, MethodTable: mt.Addr, Size: uint64(mt.BaseSize), Text: s.appendInline(nil, LineChars, 0)}
	if line, ok := d.pairIn(s); ok {
		a.Text = line
	}
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
	if d.r.Runtime().CanonicalForClass() {
		return answer.Class{Addr: t.MT.Canonical, Canonical: true}
	}
	class, err := d.r.Runtime().EEClass(t.MT)
	if err != nil {
		d.note(err)
		return answer.Class{Err: err}
	}
	return answer.Class{Addr: class.Addr}
}
