package leaks

import (
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A home is a class of the program with collections in its fields: of one object, or static ones.
type home struct {
	class       *objects.Type
	object      objects.Object // zero for static fields
	collections []graph.Node
}

// limited returns the evidence that a collection of the program has a limit and has reached it: as many elements as a read-only field or the code of its
// class says, or another collection of its class with as many elements that records how many were removed. A collection that only grows is of such a
// size for a moment. n is the collection, or the object that owns it.
func (f *finder) limited(ctx context.Context, n graph.Node) answer.Statement {
	h, ok := f.homeOf(ctx, n)
	if !ok {
		return answer.Statement{}
	}
	fields := h.limits()
	var code *removers // read when they are needed
	for _, c := range h.collections {
		if c != n && f.doms.Idom(c) != n {
			continue // a neighbour
		}
		count := f.elements(graph.NoNode, c)
		if count.Err() != nil || count.Value < manyReplaced {
			continue
		}
		changes, counts := f.changes(c)
		replaced := !counts || changes >= count.Value+tolerated(count.Value)
		if field := fields[count.Value]; field != "" && counts && replaced {
			return says.Full(count.Value, compilernames.Pretty(field), changes)
		}
		if says := f.neighbour(&h, c, count.Value); !says.IsZero() {
			return says
		}
		if !replaced {
			continue
		}
		if code == nil {
			code = f.removersOf(h.class)
		}
		if method := code.numbers[count.Value]; method != "" {
			return says.FullByCode(count.Value, method)
		}
		if field, method := f.bound(&h, code, count.Value); field != "" {
			return says.FullByField(count.Value, field, method)
		}
	}
	return answer.Statement{}
}

// tolerated returns how many of n elements may be on their way into a collection or out of it.
func tolerated(n uint64) uint64 { return max(manyReplaced, n/100*moreReplaced) }

// neighbour returns the evidence that a queue of the same class has as many elements as c, and that they come and go: they are the keys of the elements in
// the order in which they are removed. Lists do not count: a list of what was used last changes with each use.
func (f *finder) neighbour(h *home, c graph.Node, count uint64) answer.Statement {
	for _, other := range h.collections {
		if other == c || !strings.Contains(f.typeName(other), "Queue<") {
			continue
		}
		elements, changes, ok := f.queueChanges(other)
		if n := f.elements(graph.NoNode, other); !ok && n.Err() == nil {
			elements = n.Value
			changes, ok = f.changes(other)
		}
		if ok && max(elements, count)-min(elements, count) <= tolerated(count) && changes/manyChanges >= elements {
			return says.NeighbourChanged(f.typeText(f.g.Type(other)).String(), changes, elements)
		}
	}
	return answer.Statement{}
}

// homeOf returns the class of the program to which n belongs: its own, the class of the object that alone has it, or the class with the static field that alone has it.
func (f *finder) homeOf(ctx context.Context, n graph.Node) (h home, ok bool) {
	owner := n
	if answer.LibraryMethod(f.typeName(n) + ".") {
		owner = f.haver(ctx, n)
	}
	if f.g.IsObject(owner) {
		if f.typeName(owner) == "" || answer.LibraryMethod(f.typeName(owner)+".") || f.g.Type(owner).IsArray() {
			return h, false
		}
		o, err := f.object(owner)
		if err != nil {
			return h, false
		}
		h.class, h.object = o.Type, o
		h.collections = f.collectionsIn(f.g.Referents(owner))
		return h, true
	}
	h.class = f.declaring(owner)
	if h.class == nil {
		return h, false
	}
	if name, err := h.class.ManagedName(); err != nil || answer.LibraryMethod(name+".") {
		return h, false
	}
	for source := graph.Node(f.g.Objects()); source < f.g.Root(); source++ {
		if d := f.declaring(source); d != nil && d.MT.Addr == h.class.MT.Addr {
			h.collections = append(h.collections, f.collectionsIn(f.g.Referents(source))...)
		}
	}
	return h, true
}

// haver returns what alone has n, apart from methods that use it at the moment: its dominator, or else the only object or static field that refers to it.
func (f *finder) haver(ctx context.Context, n graph.Node) graph.Node {
	up := f.doms.Idom(n)
	if f.g.IsObject(up) || !f.several(n) {
		return up
	}
	held, err := f.g.Referrers(ctx)
	if err != nil {
		return up
	}
	only, list := graph.NoNode, held.Of(n)
	if len(list) > lookStep {
		return up
	}
	for _, r := range list {
		switch s := f.g.Source(r); {
		case s != nil && (s.Kind == graph.SourceFrame || s.Kind == graph.SourceThread), !f.live.Live(r), f.through(r), r == only:
		case only != graph.NoNode:
			return up
		default:
			only = r
		}
	}
	if only == graph.NoNode {
		return up
	}
	return only
}

// declaring returns the class of a static field that all threads share, or nil for other nodes.
func (f *finder) declaring(n graph.Node) *objects.Type {
	if f.g.IsObject(n) || n >= f.g.Root() {
		return nil
	}
	s := f.g.Source(n)
	if s.Kind != graph.SourceField || s.Thread != nil || s.Static == nil || s.Static.Field == nil {
		return nil
	}
	return s.Static.Field.Declaring
}

func (f *finder) collectionsIn(nodes []graph.Node) (out []graph.Node) {
	for _, n := range nodes {
		if f.g.IsObject(n) && f.isCollection(n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// readOnly is the flag of a field that only constructors set (FieldAttributes.InitOnly, ECMA-335 II.23.1.5).
const readOnly = 0x20

// limits returns the names of the read-only fields with a number that may limit a collection, by the number.
func (h *home) limits() map[uint64]string {
	out := map[uint64]string{}
	fields, err := h.class.Fields()
	if err != nil {
		return out
	}
	for _, field := range fields {
		if field.Err() != nil || field.Attributes&readOnly == 0 {
			continue
		}
		v := field.StaticValue().Value
		if !field.Static {
			if h.object.Addr == 0 {
				continue
			}
			v = field.At(target.Addr(objects.InstanceOf(h.object)))
		}
		if n, err := v.Int(); err == nil && n >= manyReplaced {
			out[uint64(n)] = field.Name
		}
	}
	return out
}

// The removers are the methods of a class that remove elements from a collection.
type removers struct {
	numbers map[uint64]string // by a number in their code: a constant has no field, for the compiler puts its value into the code
	fields  map[string]string // by the name of a field or property that they read
	stored  map[string]bool   // the fields that code of the class other than constructors and setters changes
}

// removersOf reads the code of a class.
func (f *finder) removersOf(class *objects.Type) *removers {
	out := &removers{map[uint64]string{}, map[string]string{}, map[string]bool{}}
	code := dac.CodeOf(f.r.Runtime())
	for md, err := range code.Methods(class.MT) {
		if err != nil {
			break // without its code, the collection has no known limit
		}
		body, err := code.IL(md)
		if err != nil {
			continue
		}
		meta, err := md.Metadata()
		if err != nil {
			continue
		}
		uses := usesOf(meta, body.Code)
		own, err := md.Name()
		if err != nil || own != ".ctor" && own != ".cctor" && !strings.HasPrefix(own, "set_") {
			for _, field := range uses.stores {
				out.stored[field] = true
			}
		}
		name, err := code.MethodName(md, dac.MethodQualified)
		if err != nil || !uses.removes {
			continue
		}
		for _, n := range uses.numbers {
			out.numbers[n] = name
		}
		for _, field := range uses.reads {
			out.fields[field] = name
		}
	}
	return out
}

// bound returns a field with a number, of the object with a collection or of an object of the program that it refers to, as its options are, and a method that removes
// elements and reads the field. A field that counts the elements is no bound: code of the class changes it.
func (f *finder) bound(h *home, code *removers, n uint64) (field, method string) {
	if h.object.Addr == 0 {
		return "", ""
	}
	own := func(o objects.Object, through string) bool {
		for at, v := range o.Fields() {
			if is, err := v.Int(); err != nil || is < 0 || uint64(is) != n {
				continue
			}
			name := propertyOf(at.Name)
			if by := code.fields[name]; by != "" && !code.stored[name] {
				field, method = through+name, by
				return true
			}
		}
		return false
	}
	if own(h.object, "") {
		return field, method
	}
	for at, v := range h.object.Fields() {
		if v.Kind() != objects.KindReference || v.IsNull() || code.fields[propertyOf(at.Name)] == "" {
			continue
		}
		o, err := v.Object()
		if err != nil {
			continue
		}
		if name, err := o.Type.ManagedName(); err == nil && !answer.LibraryMethod(name+".") && own(o, propertyOf(at.Name)+".") {
			return field, method
		}
	}
	return "", ""
}

// propertyOf returns the name of the property for which the compiler made a field, and other names of fields as they are.
func propertyOf(field string) string {
	if name, ok := strings.CutSuffix(field, ">k__BackingField"); ok {
		return strings.TrimPrefix(name, "<")
	}
	return field
}

// The uses are what IL does with numbers and fields.
type uses struct {
	numbers []uint64 // that may be limits
	removes bool     // it calls a method that removes elements
	reads   []string // the fields and properties that it reads
	stores  []string // the fields that it changes, or takes the address of
}

// usesOf reads IL. What can't be read does nothing.
func usesOf(meta *metadata.Metadata, il []byte) (out uses) {
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return uses{}
		}
		switch op := in.Opcode.String(); in.Kind {
		case metadata.OperandInt8, metadata.OperandInt32:
			if strings.HasPrefix(op, "ldc.i4") && in.Int() >= manyReplaced {
				out.numbers = append(out.numbers, uint64(in.Int()))
			}
		case metadata.OperandField:
			if name := propertyOf(memberName(meta, in.Token())); op == "ldfld" {
				out.reads = append(out.reads, name)
			} else {
				out.stores = append(out.stores, name)
			}
		case metadata.OperandMethod:
			name := memberName(meta, in.Token())
			out.removes = out.removes || removing(name)
			if property, ok := strings.CutPrefix(name, "get_"); ok {
				out.reads = append(out.reads, property)
			}
		}
	}
	return out
}

// removing reports whether methods of collections with a name remove elements.
func removing(method string) bool {
	method = strings.TrimPrefix(method, "Try")
	return strings.HasPrefix(method, "Remove") || method == "Dequeue" || method == "Pop" || method == "Take"
}

// memberName returns the name of the method or field that a token names, without its class, or "".
func memberName(meta *metadata.Metadata, t metadata.Token) string {
	var index metadata.StringIndex
	switch t.Table() {
	case metadata.TableMemberRef:
		m, err := meta.MemberRef(t.Row())
		if err != nil {
			return ""
		}
		index = m.Name
	case metadata.TableMethodDef:
		m, err := meta.MethodDef(t.Row())
		if err != nil {
			return ""
		}
		index = m.Name
	case metadata.TableField:
		m, err := meta.Field(t.Row())
		if err != nil {
			return ""
		}
		index = m.Name
	}
	name, err := meta.String(index)
	if err != nil {
		return ""
	}
	return name
}
