package web

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// headers adds the headers of a request. The Host header is always read.
func (q *query) headers(out *answer.Request, f *objects.RefField, x objects.Instance) {
	if !f.Has() {
		return
	}
	g := q.reading()
	all := q.o.Headers || q.o.Header != ""
	if s, at := shapes.BindAt[*kestrelHeaders](g, f, x); s != nil {
		known, err := s.Known.Value(at).Struct()
		if err != nil {
			g.Note(err)
			return
		}
		q.knownHeaders(out, known, all)
		if all {
			q.storedHeaders(out, &s.Others, at)
		}
		return
	}
	if s, at := shapes.BindAt[*headerDictionary](g, f, x); s != nil {
		q.storedHeaders(out, &s.Store, at)
	}
}

// knownHeaders adds the headers with fields in Kestrel, such as Content-Type in _ContentType.
func (q *query) knownHeaders(out *answer.Request, s objects.Struct, all bool) {
	for f, v := range s.Fields() {
		name := headerName(f.Name)
		if name == "" || !all && name != "Host" {
			continue
		}
		q.header(out, name, v)
	}
}

// storedHeaders adds the headers in a dictionary.
func (q *query) storedHeaders(out *answer.Request, f *objects.RefField, x objects.Instance) {
	g := q.reading()
	for item, err := range q.items.ItemsAt(f, x) {
		if err != nil {
			g.Note(err)
			continue
		}
		q.item(out, item)
	}
}

func (q *query) item(out *answer.Request, item objects.CollectionItem) {
	name, err := item.Key.Start(limits.RequestText)
	if err != nil {
		q.out.Note(err)
		return
	}
	q.header(out, name, item.Value)
}

// header adds a header, unless it has no values.
func (q *query) header(out *answer.Request, name string, v objects.Value) {
	value, ok, err := q.stringValues(v)
	q.out.Note(err)
	if err == nil && !ok {
		return
	}
	if len(out.Headers) == limits.RequestHeaders {
		q.out.Note(target.Unsupportedf("request %#x has more than %d headers", uint64(out.Context), limits.RequestHeaders))
		return
	}
	out.Headers = append(out.Headers, answer.Header{Name: name, Value: answer.Text{S: value, Err: err}})
	if strings.EqualFold(name, "Host") || name == ":authority" && out.Host.IsZero() {
		out.Host = answer.Text{S: value, Err: err}
	}
}

// stringValues returns the content of a StringValues (no string, one or several) and whether it holds any.
func (q *query) stringValues(v objects.Value) (string, bool, error) {
	st, err := v.Struct()
	if err != nil {
		return "", false, err
	}
	s, err := objects.Bind[*stringValues](q.b, st.Type)
	if err != nil {
		return "", false, err
	}
	o, err := s.Values.Object(objects.InstanceIn(st))
	if err != nil || o.Addr == 0 {
		return "", false, err
	}
	if o.IsString() {
		t, err := o.Start(limits.RequestText)
		return t, true, err
	}
	a, err := o.Array()
	if err != nil {
		return "", false, err
	}
	var all []string
	for i := range min(a.Len, limits.RequestHeaders) {
		t, err := a.At(i).Start(limits.RequestText)
		if err != nil {
			return "", false, err
		}
		all = append(all, t)
	}
	return strings.Join(all, ", "), len(all) > 0, nil
}

// mask masks the values of secret headers.
func (q *query) mask() {
	if q.o.Secrets {
		return
	}
	for i := range q.out.Requests {
		for n := range q.out.Requests[i].Headers {
			if h := &q.out.Requests[i].Headers[n]; secretHeader(h.Name) && h.Value.Err == nil {
				h.Value.S, h.Masked = masked, true
			}
		}
	}
}

// masked replaces a secret.
const masked = "***"
