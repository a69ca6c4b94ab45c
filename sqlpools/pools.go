package sqlpools

import (
	"context"
	"errors"
	"strings"
	"time"

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
	out      *answer.SQLPools
	commands map[target.Addr]objects.Object // of SqlClient, by the parser that they run on
	made     map[target.Addr]objects.Object // the last one for each SqlConnection
}

// Pools lists the pools of connections to databases. What can't be read is noted in the answer.
func (r *Reader) Pools(ctx context.Context, h *heap.Heap, o Options) (*answer.SQLPools, error) {
	q := &query{Reader: r, out: &answer.SQLPools{Pools: []answer.SQLPool{}}, commands: map[target.Addr]objects.Object{}, made: map[target.Addr]objects.Object{}}
	var pools []objects.Object
	for f, err := range shapes.On[anchor](ctx, r.b, h, nil, o.Scan) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			q.out.Note(err)
			continue
		}
		object, err := r.b.Objects().Of(f.Object)
		if err != nil {
			q.out.Note(err)
			continue
		}
		if s, x := bindObject[clientCommand](q, object); s != nil {
			q.running(object, s, x)
		} else {
			pools = append(pools, object)
		}
	}
	for _, p := range pools {
		if s, x := bindObject[clientPool](q, p); s != nil {
			q.client(p, s, x)
		} else if s, x := bindObject[sourcePool](q, p); s != nil {
			q.source(p, s, x)
		} else {
			q.out.Note(target.Unsupportedf("pool %#x: how a %s keeps its connections is not known", uint64(p.Addr), q.typeName(p)))
		}
	}
	if !o.Secrets {
		for i := range q.out.Pools {
			q.out.Pools[i].Connection.S = Masked(q.out.Pools[i].Connection.S)
		}
	}
	return q.out, nil
}

// bind binds a shape to what a field refers to; nil for null, for an object of another type, and with a note for what can't be
// read.
func bind[T any](q *query, f *shapes.Ref, x shapes.Instance) (*T, shapes.Instance) {
	if !f.Has() {
		return nil, 0
	}
	o, err := f.Object(x)
	if err != nil {
		q.out.Note(err)
		return nil, 0
	}
	return bindObject[T](q, o)
}

func bindObject[T any](q *query, o objects.Object) (*T, shapes.Instance) {
	if o.Addr == 0 {
		return nil, 0
	}
	s, at, err := shapes.BindObject[T](q.b, o)
	if err != nil {
		if !errors.Is(err, shapes.ErrOtherType) {
			q.out.Note(err)
		}
		return nil, 0
	}
	return s, at
}

func (q *query) text(f *shapes.Ref, x shapes.Instance) answer.Text {
	if !f.Has() {
		return answer.Text{}
	}
	s, _, err := f.Text(x, limits.RequestText)
	return q.out.Text(s, err)
}

// number is the number in a field, or that the version has no such field.
func (q *query) number(f *shapes.Int, x shapes.Instance) answer.Maybe[int64] {
	if !f.Has() {
		return answer.Maybe[int64]{Err: errNoField}
	}
	n, err := f.Int(x)
	q.out.Note(err)
	return answer.Of(n, err)
}

var errNoField = target.Unsupportedf("this version of the driver does not keep it")

func (q *query) address(f *shapes.Ref, x shapes.Instance) target.Addr {
	if !f.Has() {
		return 0
	}
	a, err := f.Addr(x)
	q.out.Note(err)
	return a
}

// list are the objects in the collection that a field refers to, and whether all could be read.
func (q *query) list(f *shapes.Ref, x shapes.Instance) ([]objects.Object, error) {
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		q.out.Note(err)
		return nil, err
	}
	c, err := q.items.Of(o)
	if err != nil {
		q.out.Note(err)
		return nil, err
	}
	var out []objects.Object
	var first error
	for item, err := range c.Items() {
		var o objects.Object
		if err == nil && item.Value.IsNull() {
			continue
		}
		if err == nil {
			o, err = item.Value.Object()
		}
		if err != nil {
			q.out.Note(err)
			if first == nil {
				first = err
			}
			continue
		}
		out = append(out, o)
	}
	return out, first
}

// opened is the time in the field of a DateTime, nil if there is none.
func (q *query) opened(f *shapes.Int, x shapes.Instance) *time.Time {
	if !f.Has() {
		return nil
	}
	data, err := f.Uint(x)
	q.out.Note(err)
	const ticksToUnix, maxTicks = 621355968000000000, 3155378975999999999
	ticks := int64(data & (1<<62 - 1))
	if err != nil || ticks == 0 || ticks > maxTicks {
		return nil
	}
	ticks -= ticksToUnix
	t := time.Unix(ticks/1e7, ticks%1e7*100).UTC()
	return &t
}

// timeout is what a command may take, of a Nullable or a number; nil where it was not set.
func (q *query) timeout(f *shapes.Value, x shapes.Instance) *int64 {
	v := f.Value(x)
	if s, err := v.Struct(); err == nil {
		var has bool
		if v, has, err = q.b.Nullable(s); err != nil || !has {
			q.out.Note(err)
			return nil
		}
	}
	n, err := v.Int()
	if err != nil {
		q.out.Note(err)
		return nil
	}
	return &n
}

// typeName is the name of an object's type.
func (q *query) typeName(o objects.Object) answer.Text {
	name, err := o.Type.Name()
	return q.out.Text(name, err)
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
