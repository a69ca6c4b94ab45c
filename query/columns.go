package query

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/heap"
)

// A Column is a column of a Source.
type Column struct {
	Name    string // lower case
	Summary string
	// Kind is the kind of the values that are neither null nor unreadable. It is zero for a column of several
	// kinds.
	Kind   Kind
	Count  bool              // counts and bytes, which are written with commas
	Hidden bool              // omitted by select *
	Hex    bool              // addresses and ids, which are written in hexadecimal
	Tag    reflect.StructTag // tag of the column's field, if the row is a struct

	object bool // rows are about the object in this column
}

// A Source yields rows that queries select with from. Packages add theirs to Env.Sources, most of them with
// NewSource.
type Source struct {
	Name    string // lower case
	Aliases []string
	Summary string
	Columns []Column
	// Object is the index of the column with the object that the row is about, or -1. In a query, members of that
	// object are names like columns.
	Object int
	// Of names the classes of these objects. An object is of one of them or of a derived class. If Of is empty, it
	// may be of any class.
	Of []string
	// Rows yields a value for each column. The slice is valid until the next row. An error stands for missing rows.
	// The list continues after it, unless it is the error of ctx.
	Rows func(context.Context) iter.Seq2[[]Value, error]
}

func (s *Source) is(name string) bool {
	if strings.EqualFold(s.Name, name) {
		return true
	}
	return slices.ContainsFunc(s.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// heapSources are the sources with objects as rows, from a scan of the heap.
var heapSources = []Source{
	{Name: "objects", Summary: "all objects of the heap", Columns: heapColumns},
	{Name: "live", Summary: "objects that something keeps alive", Columns: heapColumns},
	{Name: "dead", Summary: "objects that nothing keeps alive", Columns: heapColumns},
	{Name: "strings", Summary: "strings", Columns: append([]Column{{Name: "text", Summary: "what it says"}}, heapColumns...)},
	{Name: "exceptions", Summary: "exceptions, with _message, _HResult and the other fields of System.Exception", Columns: heapColumns},
}

// HeapSources returns the sources with objects of the heap as rows. Their Rows are nil.
func HeapSources() []Source { return append([]Source(nil), heapSources...) }

var heapColumns = []Column{
	{Name: "address", Summary: "where it starts"},
	{Name: "size", Summary: "bytes", Count: true},
	{Name: "type", Summary: "name of its type"},
	{Name: "length", Summary: "elements of an array, characters of a string", Count: true, Hidden: true},
	{Name: "gen", Summary: "generation: gen0, gen1, gen2, loh, poh, frozen, which equal 0 to 5", Hidden: true},
	{Name: "mt", Summary: "address of its MethodTable", Hidden: true},
	{Name: "heap", Summary: "number of the GC's heap", Hidden: true},
	{Name: "segment", Summary: "address of its segment or region", Hidden: true},
	{Name: "retained", Summary: "bytes that would be free without it, its own among them", Count: true, Hidden: true},
	{Name: "live", Summary: "whether something keeps it alive", Hidden: true},
	{Name: "text", Summary: "the object on one line", Hidden: true},
}

// column compiles the name of a column. ok reports whether it is one. A name with an upper-case letter is a member.
func (s *scope) column(n *node) (c code, ok bool, err error) {
	for i := range s.columns {
		if s.columns[i].Name != n.name {
			continue
		}
		if s.heap {
			c, err = s.heapColumn(n)
			return c, true, err
		}
		return code{eval: func(f *frame) Value { return f.column(i) }}, true, nil
	}
	return code{}, false, nil
}

// heapColumn compiles a column of an object of the heap. A value that depends only on the type is constant.
func (s *scope) heapColumn(n *node) (code, error) {
	switch n.name {
	case "address":
		return valueCode(func(f *frame) Value { return Address(f.obj.Addr) })
	case "size":
		return s.sizeColumn(), nil
	case "length":
		return lengthColumn(), nil
	case "type":
		return s.typeColumn()
	case "mt":
		if s.typ != nil {
			return constantCode(Address(s.typ.MT.Addr)), nil
		}
		return valueCode(func(f *frame) Value { return Address(f.obj.Type.Addr) })
	case "gen":
		c := numberCode(generationColumn)
		c.eval = func(f *frame) Value { return generationValue(f.seg.Generation(f.obj.Addr)) }
		return c, nil
	case "heap":
		return numberCode(func(f *frame) int64 { return int64(f.seg.SubHeap) }), nil
	case "segment":
		return valueCode(func(f *frame) Value { return Address(f.seg.Addr) })
	case "retained":
		if err := s.e.needRetained(); err != nil {
			return code{}, err
		}
		return valueCode(func(f *frame) Value { return f.retained(f.obj.Addr) })
	case "live":
		if err := s.e.needLive(); err != nil {
			return code{}, err
		}
		live := s.e.live
		return testCode(func(f *frame) truth { return truthOf(live(f.obj.Addr)) })
	}
	return valueCode(func(f *frame) Value { return f.line(f.this()) }) // text
}

func numberCode(number func(*frame) int64) code {
	return code{eval: func(f *frame) Value { return Int(number(f)) }, number: number}
}

func (s *scope) sizeColumn() code {
	if s.typ != nil && !s.typ.MT.HasComponents() {
		if size := s.typ.MT.Size(0); size > 0 && size < leastObject {
			c := constantCode(Uint(size))
			c.number = func(*frame) int64 { return int64(size) }
			return c
		}
	}
	return numberCode(func(f *frame) int64 { return int64(f.obj.Size) })
}

func (s *scope) typeColumn() (code, error) {
	if s.typ != nil {
		return constantCode(Value{kind: KindType, typ: s.typ}), nil
	}
	return valueCode(func(f *frame) Value { return Value{kind: KindType, typ: f.typ} })
}

func generationColumn(f *frame) int64 { return generationNumber(f.seg.Generation(f.obj.Addr)) }

// generationNames are the generations by their numbers in expressions. GC.GetGeneration returns 2 for large and pinned
// objects and int.MaxValue for frozen ones, which would make them indistinguishable.
var generationNames = [...]string{heap.Generation0: "gen0", heap.Generation1: "gen1", heap.Generation2: "gen2", 3: "loh", 4: "poh", 5: "frozen"}

// generationNumber returns the number of a generation, or -1 if it is unknown.
func generationNumber(g heap.Generation) int64 {
	switch g {
	case heap.Generation0, heap.Generation1, heap.Generation2:
		return int64(g)
	case heap.GenerationLarge:
		return 3
	case heap.GenerationPinned:
		return 4
	case heap.GenerationFrozen:
		return 5
	}
	return -1
}

// generationName returns the name of a generation by its number.
func generationName(n uint64) string {
	if n < uint64(len(generationNames)) {
		return generationNames[n]
	}
	return "unknown"
}

// generationValue returns a generation as a number that is displayed by name.
func generationValue(g heap.Generation) Value {
	v := Int(generationNumber(g))
	v.note = noteGeneration
	return v
}
