package waste

import (
	gostrings "strings"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A shape says which fields of a collection tell how full it is. The names are those of the sources of the class libraries.
type shape struct {
	arrays string // fields with the arrays that hold elements, the first of which is as long as there is room; may be empty
	count  string // field with the number of elements
	unused string // field with how many of them are not used; may be empty
}

// shapes are the known ones of each collection, of the newest version first.
var shapes = map[string][]shape{
	"System.Collections.Generic.List":          {{arrays: "_items", count: "_size"}},
	"System.Collections.Generic.Dictionary":    {{arrays: "_entries _buckets", count: "_count", unused: "_freeCount"}, {arrays: "entries buckets", count: "count", unused: "freeCount"}},
	"System.Collections.Generic.HashSet":       {{arrays: "_entries _buckets", count: "_count", unused: "_freeCount"}, {arrays: "_slots _buckets", count: "_count"}},
	"System.Collections.Generic.Queue":         {{arrays: "_array", count: "_size"}},
	"System.Collections.Generic.Stack":         {{arrays: "_array", count: "_size"}},
	"System.Collections.Generic.SortedList":    {{arrays: "keys values", count: "_size"}},
	"System.Collections.Generic.PriorityQueue": {{arrays: "_nodes", count: "_size"}},
	"System.Collections.Generic.LinkedList":    {{count: "count"}},
	"System.Collections.Generic.SortedSet":     {{count: "count"}, {count: "_count"}},
	"System.Collections.ArrayList":             {{arrays: "_items", count: "_size"}},
	"System.Collections.Hashtable":             {{arrays: "_buckets", count: "_count"}, {arrays: "buckets", count: "count"}},
	"System.Collections.Queue":                 {{arrays: "_array", count: "_size"}},
	"System.Collections.Stack":                 {{arrays: "_array", count: "_size"}},
	"System.Collections.SortedList":            {{arrays: "keys values", count: "_size"}},
	"System.Text.StringBuilder":                {{arrays: "m_ChunkChars", count: "m_ChunkLength"}},
	"System.IO.MemoryStream":                   {{arrays: "_buffer", count: "_length"}},
}

// A collection is a shape that is bound to the fields of a type.
type collection struct {
	arrays        []target.Addr // offsets from the object's start
	count, unused target.Addr   // the same; unused is 0 for none
}

// collectionOf binds the collection that t is, or derives from; it is nil for other types. The error says that the fields are
// not known.
func collectionOf(t *objects.Type) (*collection, error) {
	for depth := 0; t != nil && depth < maxBases; depth++ {
		name, err := t.ManagedName()
		if err != nil {
			return nil, nil // it is no type of the class libraries that has no name
		}
		if list, ok := shapes[definition(name)]; ok && len(list) > 0 {
			return bindAny(t, name, list)
		}
		if t, err = t.Base(); err != nil {
			return nil, nil
		}
	}
	return nil, nil
}

// maxBases is how far a collection is looked for among base classes.
const maxBases = 16

// definition is the name of a type without its arguments, empty for what is nested in a type with arguments.
func definition(name string) string {
	i := gostrings.IndexByte(name, '<')
	if i < 0 {
		return name
	}
	depth := 0
	for k := i; k < len(name); k++ {
		switch name[k] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 && k != len(name)-1 {
				return ""
			}
		}
	}
	return name[:i]
}

func bindAny(t *objects.Type, name string, list []shape) (*collection, error) {
	for i := range list {
		if c := list[i].bind(t); c != nil {
			return c, nil
		}
	}
	return nil, target.Unsupportedf("%s has no fields %s and %s", name, list[0].arrays, list[0].count)
}

// bind is nil where a field is missing or is of another kind.
func (s *shape) bind(t *objects.Type) *collection {
	c := &collection{}
	ok := true
	field := func(name string, refers bool) target.Addr {
		f, err := t.InstanceField(name)
		if err != nil || f.RefersToObject() != refers || !refers && f.ElementType != metadata.ElementI4 {
			ok = false
			return 0
		}
		return 8 + target.Addr(f.Offset)
	}
	for name := range gostrings.FieldsSeq(s.arrays) {
		c.arrays = append(c.arrays, field(name, true))
	}
	c.count = field(s.count, false)
	if s.unused != "" {
		c.unused = field(s.unused, false)
	}
	if !ok {
		return nil
	}
	return c
}
