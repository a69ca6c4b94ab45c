package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A checker checks the names of expressions against the types of the dump before anything runs.
type checker struct {
	s     *scope
	types []*objects.Type // types of the rows' objects; nil if unknown
}

// checkNames checks the names of an expression about an object of known type.
func (s *scope) checkNames(n *node) error {
	c := checker{s: s, types: []*objects.Type{s.typ}}
	_, err := c.check(n)
	return err
}

// check returns the possible types of a node, or nil if they are unknown.
func (c *checker) check(n *node) ([]*objects.Type, error) {
	if c.s.known != nil && c.s.known(n) >= 0 {
		return nil, nil
	}
	switch n.op {
	case opThis:
		return c.types, nil
	case opName:
		return c.name(n)
	case opMember:
		return c.member(n)
	case opCast, opAs:
		if _, err := c.check(n.args[0]); err != nil {
			return nil, err
		}
		list, err := c.s.e.mustFind(n.typ)
		return c.s.e.typesOf(list), err
	}
	for _, a := range n.args {
		if _, err := c.check(a); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// name returns the possible types of a name without an object before it.
func (c *checker) name(n *node) ([]*objects.Type, error) {
	if c.column(n) {
		return nil, nil
	}
	if c.types == nil {
		return nil, nil
	}
	types, found := c.fields(c.types, n.name)
	if found {
		c.s.e.markOwned(n.name)
		return types, nil
	}
	if _, special := specialMembers()[n.name]; special {
		c.s.e.markOwned(n.name)
		return nil, nil
	}
	if _, ok, err := c.s.typePath(n); ok || err != nil {
		return nil, err
	}
	return nil, c.unknown(n)
}

// column reports whether a name is a column. It does not compile the column, which may need the graph.
func (c *checker) column(n *node) bool {
	return slices.ContainsFunc(c.s.columns, func(col Column) bool { return col.Name == n.name })
}

func (e *engine) markOwned(name string) {
	if e.owned == nil {
		e.owned = map[string]bool{}
	}
	e.owned[name] = true
}

// fields returns the declared types of the fields that a name means for types, or nil if unknown. found reports whether
// one of types has it.
func (c *checker) fields(types []*objects.Type, name string) (declared []*objects.Type, found bool) {
	known := true
	for _, t := range types {
		f, err := findField(t, name, false)
		if err != nil {
			if err != errNoMember {
				found, known = true, false // it may have the member; an ambiguous name is reported when the type is met
			}
			continue
		}
		found = true
		d, err := declaredType(f)
		if err != nil || d == nil || !isClosed(d) || len(declared) > maxMembers {
			known = false
			if len(types) > maxMembers {
				return nil, true
			}
			continue
		}
		if !slices.Contains(declared, d) {
			declared = append(declared, d)
		}
	}
	if !known {
		return nil, found
	}
	return declared, found
}

// isClosed reports whether the declared type determines the members. System.Object, interfaces and shared generics do
// not.
func isClosed(t *objects.Type) bool {
	if t.MT.IsInterface() || t.MT.Parent == 0 || t.MT.IsArray() {
		return false
	}
	name, err := t.Name()
	return err == nil && name != "System.__Canon" && !strings.HasPrefix(name, "System.Nullable`1")
}

func (c *checker) member(n *node) ([]*objects.Type, error) {
	if c.isTypePath(n) {
		return nil, nil
	}
	types, err := c.check(n.args[0])
	if err != nil || types == nil {
		return nil, err
	}
	if _, special := specialMembers()[n.name]; special {
		return nil, nil
	}
	declared, found := c.fields(types, n.name)
	if !found && !c.derivedHave(types, n.name) {
		return nil, c.noMember(n, types)
	}
	return declared, nil
}

// isTypePath reports whether a path begins with a type: its root is neither a column nor a member of the rows.
func (c *checker) isTypePath(n *node) bool {
	root := n
	for root.op == opMember {
		root = root.args[0]
	}
	if root.op != opName {
		return false
	}
	if c.column(root) {
		return false
	}
	if _, found := c.fields(c.types, root.name); found {
		c.s.e.markOwned(root.name)
		return false
	}
	_, ok, err := c.s.typePath(n)
	return ok && err == nil
}

// derivedHave reports whether a loaded type that derives from one of types has a member with that name.
func (c *checker) derivedHave(types []*objects.Type, name string) bool {
	set := typeSet{e: c.s.e, list: types, types: map[*objects.Type]bool{}}
	for _, n := range c.s.e.table().all {
		if n.mt.IsOpen() {
			continue
		}
		t := c.s.e.typeOf(n)
		if _, found := c.fields([]*objects.Type{t}, name); !found {
			continue
		}
		if ok, err := set.has(t); ok || err != nil {
			return true
		}
	}
	return false
}

func (c *checker) noMember(n *node, types []*objects.Type) error {
	bad := c.s.e.errorf(n, "there is no %s in %s", n.name, typeTitle(types[0]))
	bad.Hint = membersHint(n.name, types)
	return bad
}

func membersHint(name string, types []*objects.Type, names ...string) string {
	for _, t := range types {
		for _, m := range memberNames(t) {
			if !slices.Contains(names, m) && len(names) < limits.SuggestedNames {
				names = append(names, m)
			}
		}
		if len(names) > 4096 {
			break
		}
	}
	if hint := suggest(name, names); hint != "" || len(names) == 0 {
		return hint
	}
	more := ""
	if len(names) > maxMembers {
		names, more = names[:maxMembers], ", …"
	}
	return "it has " + strings.Join(names, ", ") + more
}

// unknown returns the error for a name that no type of the rows has.
func (c *checker) unknown(n *node) error {
	if c.s.source != nil {
		bad := c.s.e.errorf(n, "no column of %s is named %s, and no field of the rows' objects", c.s.source.Name, n.name)
		bad.Hint = suggestColumn(n.name, c.s.columns)
		return c.s.e.unsure(bad)
	}
	title := "the objects"
	if len(c.types) == 1 {
		title = typeTitle(c.types[0])
	}
	bad := c.s.e.errorf(n, "no column is named %s, and no field of %s", n.name, title)
	var names []string
	for _, col := range c.s.columns {
		names = append(names, col.Name)
	}
	bad.Hint = membersHint(n.name, c.types, names...)
	return c.s.e.unsure(bad)
}

// typeOf returns the type of a MethodTable from the runtime's tables.
func (e *engine) typeOf(n *namedType) *objects.Type {
	o, err := e.env.objects.Of(heap.Object{Type: n.mt})
	if err != nil {
		return nil
	}
	return o.Type
}

func (e *engine) typesOf(list []*namedType) []*objects.Type {
	var out []*objects.Type
	for _, n := range list {
		if t := e.typeOf(n); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// An Error reports a fault in what the user wrote: its form, or a name that is not in the dump.
type Error struct {
	Column int    // place of the fault in characters, from 1; 0 if it has no place
	Text   string // the fault
	Near   string // the source at Column
	Hint   string // a suggestion; may be empty
}

// Unwrap returns target.ErrArgument.
func (e *Error) Unwrap() error { return target.ErrArgument }

func (e *Error) Error() string {
	var b strings.Builder
	if e.Column > 0 {
		fmt.Fprintf(&b, "column %d", e.Column)
		if e.Near != "" {
			fmt.Fprintf(&b, ", at %q", e.Near)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Text)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// nearBytes is the maximum number of bytes of the source that an Error quotes.
const nearBytes = 24

// errorAt returns an Error at the byte pos of src.
func errorAt(src string, pos int, format string, args ...any) *Error {
	e := &Error{Text: fmt.Sprintf(format, args...)}
	if src == "" {
		return e
	}
	pos = min(pos, len(src))
	e.Column = utf8.RuneCountInString(src[:pos]) + 1
	e.Near = src[pos:]
	if len(e.Near) > nearBytes {
		e.Near = strings.ToValidUTF8(e.Near[:nearBytes], "") + "…"
	}
	e.Near = cmp.Or(e.Near, "the end")
	return e
}

// notInDump returns the error for something that is not in the dump.
func notInDump(what string) error { return fmt.Errorf("%s: %w", what, target.ErrNotInDump) }
