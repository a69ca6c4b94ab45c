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
	full string // as written by the runtime
	name *typeName
}

// A typeTable holds the loaded types by the last part of their names.
type typeTable struct {
	all    []*namedType
	byLast map[string][]*namedType
	gap    error // why some types are missing, or nil
}

// table reads the names of all loaded types, once.
func (e *engine) table() *typeTable {
	t, _ := e.env.types.Get(func() (*typeTable, error) { return e.readTypes(), nil })
	return t
}

func (e *engine) readTypes() *typeTable {
	t := &typeTable{byLast: map[string][]*namedType{}}
	rt := e.env.runtime
	for mt, err := range rt.LoadedTypes() {
		if err == nil && len(t.all) >= limits.QueryTypes {
			err = target.Limitf("more than %d types", limits.QueryTypes)
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
		name = &typeName{parts: []namePart{{name: full}}} // found only by a pattern
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

// find returns the types with a name: those with that full name, or else those with a name that ends with it. If these
// are in several namespaces, it returns an Error that lists them. The result may be empty.
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

// oneDefinition fails unless the types are instances of one definition. Different assemblies may have types of one
// name.
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

// mustFind is find, except that it fails if there is no type.
func (e *engine) mustFind(t *typeName) ([]*namedType, error) {
	list, err := e.findOpen(t)
	if err != nil || len(list) > 0 {
		return list, err
	}
	bad := errorAt(e.src, t.pos, "no loaded type is named %s", t)
	bad.Hint = e.suggestType(t)
	return nil, e.unsure(bad)
}

// findOpen is find, except that a generic type with names of type parameters, Dictionary<TKey, TValue>, finds all
// instances.
func (e *engine) findOpen(t *typeName) ([]*namedType, error) {
	list, err := e.find(t)
	if err != nil || slices.ContainsFunc(list, func(n *namedType) bool { return !n.mt.IsOpen() }) {
		return list, err
	}
	if open := t.withoutParameters(); open != nil {
		return e.find(open)
	}
	return list, nil
}

// findQuoted returns the types for a text in quotes: a whole name, a pattern, or a generic type as in C#.
func (e *engine) findQuoted(text string) ([]*namedType, error) {
	if list := e.pattern(text); len(list) > 0 || !strings.Contains(text, "<") {
		return list, nil
	}
	t, end := scanType(text, 0, true)
	if t == nil || end != len(text) {
		return nil, nil
	}
	return e.findOpen(t)
}

// unsure returns the error for a name that no readable type or field has. If some types are unreadable, the error says
// so, because the name may be right.
func (e *engine) unsure(bad *Error) error {
	if gap := e.table().gap; gap != nil {
		return fmt.Errorf("%w; not all types can be read: %w", bad, gap)
	}
	return bad
}

// nearType returns a type with a whole name that is spelt nearly as t, or "".
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

// typeIn returns the first type, by name, with a whole name that continues t, or "".
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

func (e *engine) suggestType(t *typeName) string {
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

// pattern returns the types for a text in quotes: a name as in the runtime, with points for pluses, or with * and ?.
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
}

func (e *engine) newTypeSet(list []*namedType, exact bool) (*typeSet, error) {
	s := &typeSet{e: e, types: map[*objects.Type]bool{}, exact: exact}
	var first error
	for _, n := range list {
		t, err := e.env.objects.TrustedType(n.mt.Addr)
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

// has reports whether objects of type t are of one of the types, or of a type that derives from or implements one.
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

// suggest returns a hint with the candidate that a wrong name may stand for, or "".
func suggest(name string, candidates []string) string {
	if s := nearest(name, candidates); s != "" {
		return "did you mean " + s + "?"
	}
	return ""
}

// suggestColumn returns a hint with columns for a wrong name: one that is spelt nearly so, those with the name in their
// name or summary, or else all that are not hidden.
func suggestColumn(name string, columns []Column) string {
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
	if hint := suggest(name, names); hint != "" {
		return hint
	}
	if len(like) > 0 && len(like) <= maxMembers {
		return "did you mean " + strings.Join(like, " or ") + "?"
	}
	return "the columns are " + strings.Join(shown, ", ")
}

// nearest returns the candidate that is spelt nearly as name: in another case, or with at most two wrong letters. It
// returns the first of equally near ones. Names of two letters or less match only in another case.
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

// maxSuggested is the maximum length of a name for which a near one is searched.
const maxSuggested = 60

// editDistance returns the number of letters to insert, delete or change to turn a into b.
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
