package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type namedType struct {
	mt   *dac.MethodTable
	full string // as the runtime writes it
	name *typeName
}

// A typeTable has the loaded types by the last part of their names.
type typeTable struct {
	all    []*namedType
	byLast map[string][]*namedType
	gap    error // why some lack; nil if none does
}

// table reads the names of all loaded types, when they are first wanted.
func (e *engine) table() *typeTable {
	t, _ := e.env.types.Get(func() (*typeTable, error) { return e.readTypes(), nil })
	return t
}

func (e *engine) readTypes() *typeTable {
	t := &typeTable{byLast: map[string][]*namedType{}}
	rt := e.env.runtime
	for mt, err := range rt.LoadedTypes() {
		if err == nil && len(t.all) >= limits.QueryTypes {
			err = target.Corruptf("more than %d types", limits.QueryTypes)
		}
		var full string
		if err == nil {
			full, err = rt.TypeName(mt.Addr, dac.NameManaged)
		}
		if err != nil {
			t.gap = cmp.Or(t.gap, err)
			if len(t.all) >= limits.QueryTypes || e.ctx.Err() != nil {
				break
			}
			continue
		}
		t.add(mt, full)
	}
	return t
}

func (t *typeTable) add(mt *dac.MethodTable, full string) {
	name, end := scanType(full, 0, false)
	if name == nil || end != len(full) {
		name = &typeName{parts: []namePart{{name: full}}} // found by a pattern alone
	}
	n := &namedType{mt: mt, full: full, name: name}
	t.all = append(t.all, n)
	last := lastName(name)
	t.byLast[last] = append(t.byLast[last], n)
}

func lastName(t *typeName) string {
	name, _, _ := strings.Cut(t.parts[len(t.parts)-1].name, "`")
	return name
}

// find returns the types with a name: those with that full name or, if there are none, those whose name ends with it. A
// name of several namespaces is an Error that lists them. The result may be empty.
func (e *engine) find(t *typeName) ([]*namedType, error) {
	table := e.table()
	list := table.byLast[lastName(t)]
	if strings.ContainsAny(t.parts[len(t.parts)-1].name, "*?") {
		list = table.all
	}
	for _, l := range []looseness{strict, noArguments} {
		var whole, ends []*namedType
		for _, n := range list {
			switch ok, is := t.names(n.name, l); {
			case is:
				whole = append(whole, n)
			case ok:
				ends = append(ends, n)
			}
		}
		if strings.ContainsAny(t.String(), "*?") && len(whole)+len(ends) > 0 {
			return append(whole, ends...), nil
		}
		if len(whole) > 0 {
			return whole, nil
		}
		if len(ends) > 0 {
			return ends, e.oneDefinition(t, ends)
		}
	}
	return nil, nil
}

// oneDefinition fails unless the types are instances of one definition: assemblies may have types of one name.
func (e *engine) oneDefinition(t *typeName, list []*namedType) error {
	var names []string
	for _, n := range list {
		if d := n.name.definition(); !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	if len(names) == 1 {
		return nil
	}
	slices.Sort(names)
	more := ""
	if len(names) > maxMembers {
		more = fmt.Sprintf(" and %d others", len(names)-maxMembers)
		names = names[:maxMembers]
	}
	return errorAt(e.src, t.pos, "%s is ambiguous: write one of %s%s", t, strings.Join(names, ", "), more)
}

// must is find for names that have to mean something.
func (e *engine) must(t *typeName) ([]*namedType, error) {
	list, err := e.findOpen(t)
	if err != nil || len(list) > 0 {
		return list, err
	}
	bad := errorAt(e.src, t.pos, "no loaded type is named %s", t)
	bad.Hint = e.meantType(t)
	return nil, e.unsure(bad)
}

// findOpen is find also for a generic type with the names of its parameters, Dictionary<TKey, TValue>: these are all instances.
func (e *engine) findOpen(t *typeName) ([]*namedType, error) {
	list, err := e.find(t)
	if err != nil || slices.ContainsFunc(list, func(n *namedType) bool { return !n.mt.IsOpen() }) {
		return list, err
	}
	if open := t.opened(); open != nil {
		return e.find(open)
	}
	return list, nil
}

// quoted returns the types that a text in quotes names: with the whole name, by a pattern, or as C# writes generic types.
func (e *engine) quoted(text string) ([]*namedType, error) {
	if list := e.pattern(text); len(list) > 0 || !strings.Contains(text, "<") {
		return list, nil
	}
	t, end := scanType(text, 0, true)
	if t == nil || end != len(text) {
		return nil, nil
	}
	return e.findOpen(t)
}

// unsure returns the error about a name that no loaded type and no field of one has. Where not all of them can be read, the
// name may be right, and what the dump lacks is a part of the error.
func (e *engine) unsure(bad *Error) error {
	if gap := e.table().gap; gap != nil {
		return fmt.Errorf("%w; not all types can be read: %w", bad, gap)
	}
	return bad
}

// nearType returns the type whose whole name is spelt nearly as t, empty if there is none.
func (e *engine) nearType(t *typeName) string {
	if len(t.parts) < 2 {
		return ""
	}
	var names []string
	for _, n := range e.table().all {
		if len(n.name.parts) == len(t.parts) && len(names) < limits.SuggestedNames {
			names = append(names, n.name.definition())
		}
	}
	slices.Sort(names)
	return nearest(t.definition(), slices.Compact(names))
}

// typeIn returns the first type, by name, of those whose whole names go on after t; empty if there is none.
func (e *engine) typeIn(t *typeName) string {
	first := ""
	for _, n := range e.table().all {
		parts := n.name.parts
		if len(parts) <= len(t.parts) || first != "" && n.full >= first {
			continue
		}
		if slices.EqualFunc(parts[:len(t.parts)], t.parts, func(a, b namePart) bool { return a.name == b.name }) {
			first = n.full
		}
	}
	return first
}

func (e *engine) meantType(t *typeName) string {
	if name := e.nearType(t); name != "" {
		return "did you mean " + name + "?"
	}
	table := e.table()
	last := lastName(t)
	for _, n := range table.byLast[last] {
		return "did you mean " + n.full + "?"
	}
	var names []string
	for name := range table.byLast {
		if len(names) < limits.SuggestedNames && name != "" && name[0] != '<' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if name := nearest(last, names); name != "" {
		return "did you mean " + table.byLast[name][0].full + "?"
	}
	return "types lists what is loaded"
}

// pattern returns the types that a text in quotes names: as the runtime does, with points for pluses, or with * and ?.
func (e *engine) pattern(text string) []*namedType {
	var out []*namedType
	for _, n := range e.table().all {
		if n.full == text || strings.ReplaceAll(n.full, "+", ".") == text || matchPattern(text, n.full) {
			out = append(out, n)
		}
	}
	return out
}

type typeSet struct {
	e     *engine
	types map[*objects.Type]bool
	list  []*objects.Type
	exact bool
	// The names of types whose MethodTables the dump may hide: those of objects are compared by name as well.
}

func (e *engine) newTypeSet(list []*namedType, exact bool) (*typeSet, error) {
	s := &typeSet{e: e, types: map[*objects.Type]bool{}, exact: exact}
	var first error
	for _, n := range list {
		t, err := e.env.objects.Type(n.mt.Addr)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		s.types[t] = true
		s.list = append(s.list, t)
	}
	if len(s.list) == 0 && first != nil {
		return nil, first
	}
	return s, nil
}

// has reports whether objects of type t are of one of the types, or of one that derives from or implements one.
func (s *typeSet) has(t *objects.Type) (bool, error) {
	if s.types[t] {
		return true, nil
	}
	if s.exact {
		return false, nil
	}
	var first error
	for _, to := range s.list {
		ok, err := t.IsAssignableTo(to)
		if ok {
			return true, nil
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return false, first
}

// meant returns the hint that names what was meant by a wrong name; empty where nothing is near.
func meant(name string, candidates []string) string {
	if s := nearest(name, candidates); s != "" {
		return "did you mean " + s + "?"
	}
	return ""
}

// meantColumn returns which columns somebody may have meant: one that is spelt nearly so, those that have the name in them or in the
// words about them, or else any that a row shows.
func meantColumn(name string, columns []Column) string {
	var names, shown, like []string
	for _, c := range columns {
		names = append(names, c.Name)
		if !c.Hidden {
			shown = append(shown, c.Name)
		}
		words := strings.FieldsFunc(strings.ToLower(c.Summary), func(r rune) bool { return !isIdentifier(r) })
		if lower := strings.ToLower(name); len(name) > 1 && (strings.Contains(c.Name, lower) || slices.Contains(words, lower)) {
			like = append(like, c.Name)
		}
	}
	if hint := meant(name, names); hint != "" {
		return hint
	}
	if len(like) > 0 && len(like) <= maxMembers {
		return "did you mean " + strings.Join(like, " or ") + "?"
	}
	return "the columns are " + strings.Join(shown, ", ")
}

// nearest returns the candidate that is spelt nearly as name: in another case, or with at most two letters wrong; the first
// of equally near ones. A name of two letters is near to too many.
func nearest(name string, candidates []string) string {
	best, distance := "", 3
	for _, c := range candidates {
		d := 0
		if !strings.EqualFold(c, name) {
			if len(c)-len(name) > 2 || len(name)-len(c) > 2 || len(name) > maxSuggested {
				continue
			}
			d = editDistance(strings.ToLower(name), strings.ToLower(c))
		}
		if d < distance && d < len(name) && (len(name) > 2 || d == 0) {
			best, distance = c, d
		}
	}
	if best == "" && len(name) >= 3 {
		for _, c := range candidates {
			if strings.HasPrefix(strings.ToLower(c), strings.ToLower(name)) {
				return c
			}
		}
	}
	return best
}

// maxSuggested is how long a name may be for something near to be looked for.
const maxSuggested = 60

// editDistance counts the letters that have to be put in, taken out or changed to come from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
