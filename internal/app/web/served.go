package web

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// ServedBy returns a function that names the request served by a chain of suspended async methods: its method and its
// route, or its path if it has no route. The chain holds the boxes of the methods, the outermost last. The name is ""
// if no method has a variable that refers to a request in the application. Unreadable parts are recorded in gaps. The
// function is not safe for concurrent use.
func (r *Reader) ServedBy(gaps *answer.Gaps) func(boxes []target.Addr) string {
	q := r.newQuery()
	q.flows = flows.New(q.Reader.reading(gaps), r.items)
	s := &server{query: q, boxes: map[target.Addr]string{}}
	return func(boxes []target.Addr) string {
		defer func() {
			gaps.NoteAll(q.out.Noted())
			q.out.Gaps = answer.Gaps{}
		}()
		for i := len(boxes) - 1; i >= 0; i-- {
			if name := s.box(boxes[i]); name != "" {
				return name
			}
		}
		return ""
	}
}

// A server finds requests by the methods that serve them.
type server struct {
	*query
	boxes map[target.Addr]string // names of the requests, by the box of a method
}

// box returns the name of the request that a variable of a method refers to, or "".
func (s *server) box(a target.Addr) string {
	name, ok := s.boxes[a]
	if ok {
		return name
	}
	o, err := s.b.Objects().TrustedObject(a)
	if err != nil {
		s.out.Note(err)
		return ""
	}
	for v := range s.flows.Variables(o) {
		if name = s.object(v); name != "" {
			break
		}
	}
	s.boxes[a] = name
	return name
}

// object returns the name of the request at a, or "".
func (s *server) object(a target.Addr) string {
	n, ok := s.index[a]
	if !ok {
		o, err := s.b.Objects().TrustedObject(a)
		if err != nil {
			s.out.Note(err)
			return ""
		}
		s.read(o)
		if n, ok = s.index[a]; !ok {
			n = -1
			s.index[a] = n
		}
	}
	if n < 0 {
		return ""
	}
	return RouteOf(&s.out.Requests[n])
}

// read adds the request of an object, if the application works on it.
func (s *server) read(o objects.Object) {
	g := s.reading()
	if ok, _ := objects.IsShape[*httpContext](s.b, o.Type); ok {
		s.request(o)
		return
	}
	out := answer.Request{}
	if p, x := shapes.BindAs[*protocol](g, o); p != nil {
		if status := g.EnumAt(&p.Status, x); status.Err != nil || status.S != "AppStarted" && status.S != "HeadersCommitted" && status.S != "HeadersFlushed" {
			s.out.Note(status.Err)
			return
		}
		s.kestrel(&out, o, p, x)
		s.add(out)
	} else if c, x := shapes.BindAs[*iisContext](g, o); c != nil {
		s.iis(&out, o, c, x)
		s.add(out)
	}
}

// RouteOf names a request by its method and route, or by its path if it has no route.
func RouteOf(r *answer.Request) string {
	path := r.Route.S
	switch {
	case r.Method.S == "":
		return ""
	case path == "" && r.Path.S == "":
		path = r.Endpoint.S
	case path == "":
		path = r.PathBase.S + r.Path.S
	case path[0] != '/':
		path = "/" + path
	}
	if path == "" {
		return ""
	}
	return r.Method.S + " " + path
}
