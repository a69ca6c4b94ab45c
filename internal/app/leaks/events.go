package leaks

import (
	"strings"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/objects"
)

// isEvent reports whether the field that a node keeps a delegate in is an event's: the type that declares it has a method add_NAME with its name, as
// each event has (ECMA-335 I.10.4; NAMEEvent is Visual Basic's field). Without metadata the field is a delegate, which it is in any case.
func (f *finder) isEvent(n graph.Node, field string) bool {
	if !f.g.IsObject(n) {
		src := f.g.Source(n)
		return src != nil && src.Static != nil && src.Static.Field != nil && adds(src.Static.Field.Declaring, src.Static.Field.Name)
	}
	o, err := f.object(n)
	if err != nil {
		return false
	}
	fields, err := o.Type.Fields()
	if err != nil {
		return false
	}
	for _, d := range fields {
		if d.Name == field {
			return adds(d.Declaring, field)
		}
	}
	return false
}

// adds reports whether a type has the method that adds a handler to the event of a field.
func adds(t *objects.Type, field string) bool {
	m, err := t.Module()
	if err != nil {
		return false
	}
	md, err := m.Metadata()
	if err != nil {
		return false
	}
	methods, err := md.Methods(t.MT.Token.Row())
	if err != nil {
		return false
	}
	for rid := range methods.All() {
		row, err := md.MethodDef(rid)
		if err != nil {
			return false
		}
		name, err := md.StringBytes(row.Name)
		if err != nil {
			return false
		}
		method := string(name)
		if at := strings.LastIndexByte(method, '.'); at >= 0 { // of an interface
			method = method[at+1:]
		}
		if event, ok := strings.CutPrefix(method, "add_"); ok && (event == field || event+"Event" == field) {
			return true
		}
	}
	return false
}
