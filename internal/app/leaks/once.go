package leaks

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/objects"
)

// leastSet is the percentage of an array's elements from which it is full: one with room may be filled in the course of time.
const leastSet = 90

// setOnce returns the evidence that a suspect is a table: a full array that is the value of a Lazy, or of a field that only constructors set, and has no
// collection among its large parts. types are the largest types below it.
func (f *finder) setOnce(s *suspect, types []answer.TypeCount) answer.Statement {
	if s.point == graph.NoNode || s.typ < 0 || !f.g.Type(s.point).IsArray() || s.owner != graph.NoNode && f.isCollection(s.owner) {
		return answer.Statement{}
	}
	for i := range types {
		if name := types[i].Type.S; types[i].Type.Err != nil || hasPrefix(name, collectionTypes) || hasPrefix(name, wrapperTypes) {
			return answer.Statement{}
		}
	}
	array, err := f.object(s.point)
	if err != nil {
		return answer.Statement{}
	}
	if n, err := array.Length(); err != nil || 100*s.count < leastSet*uint64(n) {
		return answer.Statement{}
	}
	if field := f.onceIn(s.point); field != "" {
		return says.SetOnce(s.count, field)
	}
	return answer.Statement{}
}

// onceIn names the Lazy or the read-only field that alone has an array, or returns "".
func (f *finder) onceIn(array graph.Node) string {
	up := f.doms.Idom(array)
	if !f.g.IsObject(up) {
		if f.declaring(up) == nil {
			return ""
		}
		field := f.g.Source(up).Static.Field
		if field.Err() != nil || field.Attributes&readOnly == 0 {
			return ""
		}
		return f.x.Names().Text(&f.a.Gaps, up).S
	}
	if strings.HasPrefix(f.typeName(up), "System.Lazy<") {
		return f.typeName(up)
	}
	owner, err := f.object(up)
	if err != nil {
		return ""
	}
	for field, v := range owner.Fields() {
		if field.Err() != nil || field.Attributes&readOnly == 0 || v.Kind() != objects.KindReference || v.IsNull() {
			continue
		}
		if o, err := v.Object(); err == nil && o.Addr == f.g.Address(array) {
			return f.typeName(up) + "." + propertyOf(field.Name)
		}
	}
	return ""
}
