package commands

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// An objectResult is what dumpobj answers.
type objectResult struct {
	Address     report.Address    `json:"address" doc:"address of the object"`
	Type        string            `json:"type" doc:"its type"`
	MethodTable report.Address    `json:"methodTable" doc:"MethodTable of its type"`
	Size        uint64            `json:"size" doc:"bytes, not rounded up"`
	Free        bool              `json:"free,omitempty" doc:"it is a free block of the heap"`
	File        string            `json:"file,omitempty" doc:"file of the module that defines the type"`
	String      *string           `json:"string,omitempty" doc:"text of a string"`
	Length      *uint32           `json:"length,omitempty" doc:"UTF-16 code units of a string, elements of an array"`
	Rank        int               `json:"rank,omitempty" doc:"dimensions of an array"`
	Lengths     []int32           `json:"lengths,omitempty" doc:"elements of each dimension"`
	LowerBounds []int32           `json:"lowerBounds,omitempty" doc:"first index of each dimension"`
	Boxed       any               `json:"boxed,omitempty" doc:"the value in a box"`
	RuntimeType *report.Address   `json:"runtimeType,omitempty" doc:"TypeHandle that a System.RuntimeType stands for"`
	ThinLock    *thinLockResult   `json:"thinLock,omitempty" doc:"lock that is kept in the object's header"`
	Fields      []fieldResult     `json:"fields,omitempty" doc:"fields, the base class's first"`
	References  []referenceResult `json:"references,omitempty" doc:"with -refs: the objects that it refers to"`
}

// A thinLockResult is a lock in an object's header.
type thinLockResult struct {
	Owner     uint32         `json:"owner" doc:"managed id of the thread that holds it"`
	Thread    report.Address `json:"thread" doc:"its Thread, 0x0 if there is none"`
	Recursion uint32         `json:"recursion" doc:"times that the thread entered again"`
}

// A structResult is what dumpvc answers.
type structResult struct {
	Address     report.Address `json:"address" doc:"address of the first field"`
	Type        string         `json:"type" doc:"the value type"`
	MethodTable report.Address `json:"methodTable" doc:"its MethodTable"`
	Size        uint64         `json:"size" doc:"bytes of the value in a box"`
	File        string         `json:"file,omitempty" doc:"file of the module that defines the type"`
	Text        string         `json:"text,omitempty" doc:"the value on one line"`
	Fields      []fieldResult  `json:"fields,omitempty" doc:"its fields"`
}

// A fieldResult is a field with its value.
type fieldResult struct {
	Name        string              `json:"name" doc:"name of the field"`
	Token       string              `json:"token" doc:"metadata token, eight hexadecimal digits"`
	Declaring   string              `json:"declaringType,omitempty" doc:"type that declares it"`
	Type        string              `json:"type" doc:"its declared type"`
	MethodTable report.Address      `json:"methodTable" doc:"MethodTable of its type, 0x0 if that is not loaded"`
	Offset      uint32              `json:"offset" doc:"bytes from the first field; of a static from the start of its class's statics"`
	Kind        string              `json:"kind" doc:"\"instance\", \"static\" or \"threadStatic\""`
	Address     *report.Address     `json:"address,omitempty" doc:"where it is stored"`
	Value       any                 `json:"value,omitempty" doc:"number, boolean, string with a 0x address, or null; absent if it is not known"`
	Text        string              `json:"text,omitempty" doc:"the value on one line, where that says more"`
	Missing     string              `json:"missing,omitempty" doc:"why there is no value"`
	Threads     []threadValueResult `json:"threads,omitempty" doc:"values of a thread static"`
}

// A threadValueResult is what one thread has in a thread static.
type threadValueResult struct {
	Thread  uint32 `json:"osThread" doc:"OS id of the thread"`
	Value   any    `json:"value,omitempty" doc:"as the value of a field"`
	Text    string `json:"text,omitempty" doc:"the value on one line, where that says more"`
	Missing string `json:"missing,omitempty" doc:"why there is no value"`
}

// An arrayHeader is what dumparray answers beside the elements.
type arrayHeader struct {
	Address       report.Address `json:"address" doc:"address of the array"`
	Type          string         `json:"type" doc:"its type"`
	MethodTable   report.Address `json:"methodTable" doc:"MethodTable of its type"`
	Size          uint64         `json:"size" doc:"bytes, not rounded up"`
	Rank          int            `json:"rank" doc:"dimensions"`
	Lengths       []int32        `json:"lengths" doc:"elements of each dimension"`
	LowerBounds   []int32        `json:"lowerBounds" doc:"first index of each dimension"`
	ElementType   string         `json:"elementType" doc:"type of the elements"`
	ElementMethod report.Address `json:"elementMethodTable" doc:"TypeHandle of the elements' type"`
}

// An elementResult is one element of an array.
type elementResult struct {
	Index   []int32        `json:"index" doc:"index in each dimension"`
	Address report.Address `json:"address" doc:"where it is stored"`
	Value   any            `json:"value,omitempty" doc:"as the value of a field"`
	Text    string         `json:"text,omitempty" doc:"the value on one line, where that says more"`
	Missing string         `json:"missing,omitempty" doc:"why there is no value"`
}

// jsonChars is how much of a string stands in the text of a field.
const jsonChars = 256

// jsonValue is a value for JSON: what it is, what it reads as, or why it is
// missing. A null reference is the null of JSON.
func (p *objectPrinter) jsonValue(v objects.Value) (value any, text, lacks string) {
	if err := v.Err(); err != nil {
		p.c.Warn(err)
		return nil, "", err.Error()
	}
	bits, _ := v.Bits()
	switch v.Kind() {
	case objects.KindBool:
		return bits != 0, "", ""
	case objects.KindInt:
		n, _ := v.Int()
		value = n
	case objects.KindUint, objects.KindChar:
		value = bits
	case objects.KindFloat:
		// JSON has neither NaN nor infinity.
		return jsonFloat(v), "", ""
	case objects.KindReference:
		if bits == 0 {
			return jsonNull{}, "", ""
		}
		value = report.Address(bits)
	case objects.KindStruct:
		value = report.Address(v.Location())
	default:
		value = report.Address(bits)
	}
	return value, v.Inline(jsonChars), ""
}

// jsonNull is null where omitempty would leave a nil out.
type jsonNull struct{}

// MarshalJSON is for encoding/json.
func (jsonNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// A jsonNumber is a number that is text already.
type jsonNumber string

// MarshalJSON is for encoding/json.
func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

func jsonFloat(v objects.Value) any {
	f, _ := v.Float()
	if f != f || f > maxFloat || f < -maxFloat {
		return v.FormatFloat()
	}
	return jsonNumber(v.FormatFloat())
}

const maxFloat = 1.7976931348623157e308

func (p *objectPrinter) objectResult(o objects.Object, fields, refs bool) objectResult {
	t := o.Type
	res := objectResult{Address: report.Address(o.Addr), MethodTable: report.Address(t.MT.Addr), Free: o.IsFree()}
	name, err := t.Name()
	res.Type = textOr(p.c, name, err)
	if res.Size, err = o.Size(); err != nil {
		p.c.Warn(err)
	}
	if t.MT.HasComponents() && err == nil {
		n, _ := o.Length() // Size has read it
		res.Length = &n
	}
	if res.Free {
		return res
	}
	res.File = p.jsonFile(t)
	p.jsonSpecial(o, &res)
	if fields && !t.MT.IsArray() {
		res.Fields = p.fieldResults(t, o.Addr+dac.ObjectHeaderBytes)
	}
	if refs {
		res.References = p.referenceList(o)
	}
	return res
}

// jsonSpecial adds what only some objects have.
func (p *objectPrinter) jsonSpecial(o objects.Object, res *objectResult) {
	switch {
	case o.IsString():
		if s, err := o.Text(-1); err != nil {
			p.c.Warn(err)
		} else {
			res.String = &s
		}
	case o.Type.MT.IsArray():
		if a, err := o.Array(); err != nil {
			p.c.Warn(err)
		} else {
			res.Rank, res.Lengths, res.LowerBounds = a.Rank, a.Lengths, a.LowerBounds
		}
	case o.IsBoxed():
		res.Boxed = o.Boxed().Plain(jsonChars)
	}
	if th, ok, err := o.RuntimeType(); err != nil {
		p.c.Warn(err)
	} else if ok {
		a := report.Address(th)
		res.RuntimeType = &a
	}
	h, err := p.rt.ObjectHeader(o.Addr)
	if err != nil {
		p.c.Warn(err)
		return
	}
	if lock, ok := p.rt.ThinLock(h); ok {
		res.ThinLock = &thinLockResult{Owner: lock.Owner, Thread: report.Address(p.lockOwner(lock)), Recursion: lock.Recursion}
	}
}

func (p *objectPrinter) jsonFile(t *objects.Type) string {
	m, err := t.Module()
	path := ""
	if err == nil {
		path, err = moduleFile(m)
	}
	if err != nil {
		p.c.Warn(err)
		return ""
	}
	return path
}

func (p *objectPrinter) structResult(s objects.Struct) structResult {
	name, err := s.Type.Name()
	return structResult{
		Address:     report.Address(s.Addr),
		Type:        textOr(p.c, name, err),
		MethodTable: report.Address(s.Type.MT.Addr),
		Size:        uint64(s.Type.MT.BaseSize),
		File:        p.jsonFile(s.Type),
		Text:        s.Inline(jsonChars),
		Fields:      p.fieldResults(s.Type, s.Addr),
	}
}

// fieldResults lists all fields of t; data is where the instance's are.
func (p *objectPrinter) fieldResults(t *objects.Type, data target.Addr) []fieldResult {
	fields, err := t.Fields()
	if err != nil {
		p.c.Warn(err)
	}
	out := make([]fieldResult, 0, len(fields))
	for _, f := range fields {
		out = append(out, p.fieldResult(f, data))
	}
	return out
}

func (p *objectPrinter) fieldResult(f *objects.Field, data target.Addr) fieldResult {
	res := fieldResult{Name: f.Name, Token: f.Token.String(), Offset: f.Offset, Kind: "instance"}
	if name, err := f.Declaring.Name(); err == nil {
		res.Declaring = name
	}
	typ, err := f.TypeName(dac.NameNative)
	res.Type = textOr(p.c, typ, err)
	if th, err := f.TypeHandle(); err == nil {
		res.MethodTable = report.Address(th)
	}
	switch {
	case f.Static && f.Thread:
		res.Kind = "threadStatic"
		res.Threads = p.threadValues(f)
	case f.Static:
		res.Kind = "static"
		p.jsonStatic(f, &res)
	default:
		v := f.At(data)
		at := report.Address(v.Location())
		res.Address = &at
		res.Value, res.Text, res.Missing = p.jsonValue(v)
	}
	return res
}

func (p *objectPrinter) jsonStatic(f *objects.Field, res *fieldResult) {
	s := f.StaticValue()
	switch {
	case s.Err != nil:
		p.c.Warn(s.Err)
		res.Missing = s.Err.Error()
	case s.State != dac.StaticReady && s.State != dac.StaticUnknown:
		res.Missing = "not initialised"
	default:
		at := report.Address(s.Slot)
		res.Address = &at
		res.Value, res.Text, res.Missing = p.jsonValue(s.Stored)
	}
}

func (p *objectPrinter) threadValues(f *objects.Field) []threadValueResult {
	var out []threadValueResult
	threads := p.managedThreads()
	for i := range threads {
		if threads[i].OSID == 0 {
			continue
		}
		s := f.ThreadStatic(&threads[i])
		r := threadValueResult{Thread: threads[i].OSID}
		switch {
		case s.Err != nil:
			p.c.Warn(s.Err)
			r.Missing = s.Err.Error()
		case s.State != dac.StaticReady:
			continue
		default:
			r.Value, r.Text, r.Missing = p.jsonValue(s.Stored)
		}
		out = append(out, r)
	}
	return out
}

// arrayJSON streams n elements of a.
func (p *objectPrinter) arrayJSON(a *objects.Array, first, n uint32) error {
	j := p.c.JSON()
	name, err := a.Type.Name()
	name = textOr(p.c, name, err)
	elem, err := p.rt.TypeHandleName(a.Type.MT.PerInstInfo, dac.NameNative)
	elem = textOr(p.c, elem, err)
	size, err := a.Size()
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		v    any
	}{
		{"address", report.Address(a.Addr)}, {"type", name}, {"methodTable", report.Address(a.Type.MT.Addr)}, {"size", size},
		{"rank", a.Rank}, {"lengths", a.Lengths}, {"lowerBounds", a.LowerBounds}, {"elementType", elem},
		{"elementMethodTable", report.Address(a.Type.MT.PerInstInfo)},
	} {
		if err := j.Field(f.name, f.v); err != nil {
			return err
		}
	}
	if err := j.List("elements"); err != nil {
		return err
	}
	for i := first; i < first+n; i++ {
		if err := p.c.Context().Err(); err != nil {
			return err
		}
		v := a.At(i)
		e := elementResult{Index: a.Index(i, make([]int32, a.Rank)), Address: report.Address(v.Location())}
		e.Value, e.Text, e.Missing = p.jsonValue(v)
		if err := j.Item("elements", e); err != nil {
			return err
		}
	}
	return nil
}
