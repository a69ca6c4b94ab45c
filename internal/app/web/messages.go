package web

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Requests sent by HttpClient. Before .NET Core the fields had names without underscores.
type (
	messageAnchor struct {
		_ objects.Shape `of:"System.Net.Http.HttpRequestMessage|System.Net.Http.HttpResponseMessage"`
	}
	requestMessage struct {
		_      objects.Shape    `of:"System.Net.Http.HttpRequestMessage"`
		Method objects.RefField `field:"_method|method"`
		URI    objects.RefField `field:"_requestUri|requestUri"`
	}
	responseMessage struct {
		_       objects.Shape    `of:"System.Net.Http.HttpResponseMessage"`
		Status  objects.IntField `field:"_statusCode|statusCode"`
		Request objects.RefField `field:"_requestMessage|requestMessage"`
	}
	httpMethod struct {
		_    objects.Shape    `of:"System.Net.Http.HttpMethod"`
		Name objects.RefField `field:"_method|method"`
	}
	uri struct {
		_    objects.Shape    `of:"System.Uri"`
		Text objects.RefField `field:"_string|m_String"`
	}
)

// MessageOptions selects requests. The zero value selects all.
type MessageOptions struct {
	Count bool `opt:"stats" help:"count requests by method, status and host instead of listing them"`
	// Pending and Completed together select all requests, like neither.
	Pending   bool   `opt:"pending" help:"only requests without a response"`
	Completed bool   `opt:"completed" help:"only requests with a response"`
	URI       string `opt:"uri" help:"only requests whose URI contains this, in upper or lower case"`
	Status    *int64 `opt:"statuscode" help:"only requests with a response of this status"`

	Scan heap.ScanOptions
}

// Messages lists the requests sent by HttpClient: first the requests with a response, then the others, each by address.
// A request does not refer to its response. It counts as pending if the program has dropped the response. The error is
// ctx's.
func (r *Reader) Messages(ctx context.Context, h *heap.Heap, o MessageOptions) (*answer.Messages, error) {
	out := &answer.Messages{}
	g := r.reading(&out.Gaps)
	var answered, alone []answer.Message
	seen := map[target.Addr]bool{}
	for object := range shapes.ReadObjects[*messageAnchor](ctx, g, h, o.Scan) {
		if s, x := shapes.BindAs[*responseMessage](g, object); s != nil {
			if m := r.response(g, s, x); m != nil && !seen[m.Address] {
				seen[m.Address] = true
				answered = append(answered, *m)
			}
		} else if m := r.message(g, object); m != nil {
			alone = append(alone, *m)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, m := range alone {
		if !seen[m.Address] {
			answered = append(answered, m)
		}
	}
	list := slices.DeleteFunc(answered, func(m answer.Message) bool { return !o.matches(ctx, &m) })
	out.Total = len(list)
	if o.Count {
		out.Counts = countMessages(list)
		return out, nil
	}
	out.Requests = list
	return out, nil
}

// matches reports whether the options select a request.
func (o *MessageOptions) matches(ctx context.Context, m *answer.Message) bool {
	return (o.Pending == o.Completed || o.Completed == (m.Status != nil)) && (o.URI == "" || contains(ctx, m.URI.S, o.URI)) &&
		(o.Status == nil || m.Status != nil && *m.Status == *o.Status)
}

// response describes the request of a response. It returns nil if the response has no request.
func (r *Reader) response(g shapes.Reading, s *responseMessage, x objects.Instance) *answer.Message {
	o, err := s.Request.Object(x)
	if err != nil || o.Addr == 0 {
		g.Note(err)
		return nil
	}
	m := r.message(g, o)
	if m == nil {
		return nil
	}
	status, err := s.Status.Int(x)
	if err != nil {
		g.Note(err)
		return m
	}
	m.Status = &status
	return m
}

// message describes a request by its own fields. It returns nil for other objects.
func (r *Reader) message(g shapes.Reading, o objects.Object) *answer.Message {
	s, x := shapes.BindAs[*requestMessage](g, o)
	if s == nil {
		return nil
	}
	out := &answer.Message{Address: o.Addr, MethodTable: o.Type.MT.Addr}
	if m, at := shapes.BindAt[*httpMethod](g, &s.Method, x); m != nil {
		out.Method = g.TextAt(&m.Name, at)
	}
	if u, at := shapes.BindAt[*uri](g, &s.URI, x); u != nil {
		out.URI = g.TextAt(&u.Text, at)
	}
	return out
}

// countMessages counts the requests by method, status and host, the most frequent first.
func countMessages(list []answer.Message) []answer.MessageCount {
	out := []answer.MessageCount{}
	for i := range list {
		m := &list[i]
		c := answer.MessageCount{Method: m.Method.S, Status: m.Status, Host: uriHost(m.URI.S)}
		at := slices.IndexFunc(out, func(k answer.MessageCount) bool {
			return k.Method == c.Method && k.Host == c.Host && (k.Status == nil) == (c.Status == nil) && (c.Status == nil || *k.Status == *c.Status)
		})
		if at < 0 {
			at = len(out)
			out = append(out, c)
		}
		out[at].Count++
	}
	slices.SortStableFunc(out, func(a, b answer.MessageCount) int { return cmp.Compare(b.Count, a.Count) })
	return out
}
