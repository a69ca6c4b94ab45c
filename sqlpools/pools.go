package sqlpools

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/collections"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the pools of one runtime. It is safe for concurrent use.
type Reader struct {
	b     *shapes.Binder
	items *collections.Reader
}

// New returns a Reader for what a Binder binds.
func New(b *shapes.Binder, c *collections.Reader) *Reader { return &Reader{b, c} }

// Options choose what is told of pools.
type Options struct {
	Secrets bool // with the secrets in connection strings
	Scan    heap.ScanOptions
}

// A query is the making of one answer.
type query struct {
	*Reader
	shapes.Reading
	out      *answer.SQLPools
	commands map[target.Addr]objects.Object // of SqlClient, by the parser that they run on
	made     map[target.Addr]objects.Object // the last one for each SqlConnection
}

// Pools lists the pools of connections to databases. What can't be read is noted in the answer.
func (r *Reader) Pools(ctx context.Context, h *heap.Heap, o Options) (*answer.SQLPools, error) {
	out := &answer.SQLPools{Pools: []answer.SQLPool{}}
	q := &query{Reader: r, Reading: shapes.Reading{Gaps: &out.Gaps, Binder: r.b}, out: out, commands: map[target.Addr]objects.Object{}, made: map[target.Addr]objects.Object{}}
	var pools []objects.Object
	for f, err := range shapes.On[anchor](ctx, r.b, h, nil, o.Scan) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			q.Note(err)
			continue
		}
		object, err := r.b.Objects().Of(f.Object)
		if err != nil {
			q.Note(err)
			continue
		}
		if s, x := shapes.As[clientCommand](q.Reading, object); s != nil {
			q.running(object, s, x)
		} else {
			pools = append(pools, object)
		}
	}
	for _, p := range pools {
		if s, x := shapes.As[clientPool](q.Reading, p); s != nil {
			q.client(p, s, x)
		} else if s, x := shapes.As[sourcePool](q.Reading, p); s != nil {
			q.source(p, s, x)
		} else {
			q.Note(target.Unsupportedf("pool %#x: how a %s keeps its connections is not known", uint64(p.Addr), q.TypeText(p)))
		}
	}
	if !o.Secrets {
		for i := range q.out.Pools {
			q.out.Pools[i].Connection.S = Masked(q.out.Pools[i].Connection.S)
		}
	}
	return q.out, nil
}

// list are the objects in the collection that a field refers to, and the first error if not all could be read.
func (q *query) list(f *shapes.Ref, x shapes.Instance) ([]objects.Object, error) {
	var out []objects.Object
	var first error
	for o, err := range q.items.Objects(f, x) {
		if err == nil {
			out = append(out, o)
			continue
		}
		q.Note(err)
		if first == nil {
			first = err
		}
	}
	return out, first
}

// timeout is what a command may take, of a Nullable or a number; nil where it was not set.
func (q *query) timeout(f *shapes.Value, x shapes.Instance) *int64 {
	v := f.Value(x)
	if s, err := v.Struct(); err == nil {
		var has bool
		if v, has, err = q.b.Nullable(s); err != nil || !has {
			q.Note(err)
			return nil
		}
	}
	n, err := v.Int()
	if err != nil {
		q.Note(err)
		return nil
	}
	return &n
}

// plain is a value that a field refers to, as text.
func plain(f *shapes.Ref, x shapes.Instance) string {
	o, err := f.Object(x)
	switch {
	case err != nil:
		return answer.Absent(err)
	case o.Addr == 0:
		return "null"
	case o.IsString():
		s, err := o.Text(limits.RequestText)
		if err != nil {
			return answer.Absent(err)
		}
		return s
	case o.IsBoxed():
		return o.Boxed().Plain(limits.RequestText)
	}
	return o.Inline(limits.RequestText)
}

// masked stands in the place of a secret.
const masked = "***"

// Masked is a connection string with the values masked that are secrets: those whose names say so.
func Masked(s string) string {
	var out strings.Builder
	for s != "" {
		part := s[:end(s)]
		s = s[len(part):]
		name, value, ok := strings.Cut(part, "=")
		tail := ""
		if strings.HasSuffix(part, ";") {
			tail = ";"
		}
		if ok && secret(name) && strings.Trim(value, "; ") != "" {
			out.WriteString(name + "=" + masked + tail)
		} else {
			out.WriteString(part)
		}
	}
	return out.String()
}

// end is where the first part of a connection string ends: behind the first semicolon that is not in quotes.
func end(s string) int {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ';':
			return i + 1
		}
	}
	return len(s)
}

func secret(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	for _, part := range []string{"password", "passwd", "pwd", "secret", "token", "passphrase", "accesskey", "accountkey", "apikey"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
