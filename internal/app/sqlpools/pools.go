package sqlpools

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the pools of one runtime. It is safe for concurrent use.
type Reader struct {
	b     *objects.Binder
	items *objects.Collections
}

// New returns a Reader that binds types with b.
func New(b *objects.Binder, c *objects.Collections) *Reader { return &Reader{b, c} }

// Options selects what is reported of pools.
type Options struct {
	Brief   bool `opt:"brief" help:"without the holders of connections"`
	Secrets bool `opt:"secrets" reveals:"true" help:"show secrets instead of masking them"`

	Scan  heap.ScanOptions
	Clock ticks.Moment // the newest time that the process recorded, from which ages are computed
}

// A query builds one answer.
type query struct {
	*Reader
	shapes.Reading
	out        *answer.SQLPools
	commands   map[target.Addr]objects.Object // by parser: the SqlClient command running on it
	made       map[target.Addr]objects.Object // by SqlConnection: its last command
	commandsOf map[target.Addr]int            // by SqlConnection: the number of commands created for it
	links      map[string]objects.Object      // by connection id: the connection of SqlClient
	exceptions []objects.Object               // of failed commands
	lite       sqlite
	openings   []opening
	due        map[target.Addr]int64       // by SqlConnection: the deadline of its wait for a connection, a file time
	results    map[target.Addr]target.Addr // by the task of an OpenAsync: the SqlConnection
	clock      answer.Maybe[int64]         // the newest time that the process recorded
}

// Pools lists the pools of database connections. It records what could not be read. The error is ctx's.
func (r *Reader) Pools(ctx context.Context, p *process.Process, h *heap.Heap, o Options) (*answer.SQLPools, error) {
	out := &answer.SQLPools{Pools: []answer.SQLPool{}}
	q := &query{Reader: r, clock: o.Clock.Timers, Reading: shapes.Reading{Gaps: &out.Gaps, Binder: r.b}, out: out,
		commands: map[target.Addr]objects.Object{}, made: map[target.Addr]objects.Object{}, commandsOf: map[target.Addr]int{},
		links: map[string]objects.Object{}, due: map[target.Addr]int64{}, results: map[target.Addr]target.Addr{}}
	q.lite = sqlite{strings: map[target.Addr]answer.Text{}, commands: map[target.Addr]objects.Object{}, contexts: map[target.Addr]objects.Object{}}
	var pools []objects.Object
	for object := range shapes.ReadObjects[*anchor](ctx, q.Reading, h, o.Scan) {
		if s, x := shapes.BindAs[*clientCommand](q.Reading, object); s != nil {
			q.running(object, s, x)
		} else if !q.opening(object) && !q.sqliteObject(object) && !q.failed(object) {
			pools = append(pools, object)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, o := range pools {
		if s, x := shapes.BindAs[*clientPool](q.Reading, o); s != nil {
			q.client(o, s, x)
		} else if s, x := shapes.BindAs[*clientChannels](q.Reading, o); s != nil {
			q.clientChannels(o, s, x)
		} else if s, x := shapes.BindAs[*sourcePool](q.Reading, o); s != nil {
			q.source(o, s, x)
		}
	}
	q.sqlitePools()
	q.contexts()
	q.failures()
	for i := range q.out.Pools {
		conclude(&q.out.Pools[i])
	}
	if !o.Secrets {
		for i := range q.out.Pools {
			mask(&q.out.Pools[i])
		}
		for i := range q.out.Failures {
			maskCommand(q.out.Failures[i].Command)
		}
	}
	if o.Brief {
		return q.out, nil
	}
	return q.out, q.holders(ctx, p, h, o.Scan)
}

// conclude fills in what follows from the numbers of a pool: whether it is exhausted, which connections are leaked, and what calls do that open one.
func conclude(p *answer.SQLPool) {
	p.Exhausted = answer.Of(p.Max.Value > 0 && p.Busy.Value >= p.Max.Value, cmp.Or(p.Max.Err(), p.Busy.Err()))
	for i := range p.Connections {
		p.Connections[i].Leaked = p.Connections[i].Owner.IsZero() && p.Connections[i].Owner.Err() == nil
	}
	does := answer.SQLWaits
	switch {
	case p.Waiting.Err() != nil || p.Waiting.Value > 0 && p.Waiting.Value < int64(len(p.Opening)):
		does = answer.SQLWaitsOrOpens
	case p.Waiting.Value == 0:
		does = answer.SQLOpens
	}
	for i := range p.Opening {
		p.Opening[i].Does = does
	}
}

// list collects the objects of an iteration. With an error, the first one, the list is incomplete.
func (q *query) list(all iter.Seq2[objects.Object, error]) ([]objects.Object, error) {
	var out []objects.Object
	var first error
	for o, err := range all {
		if err == nil {
			out = append(out, o)
			continue
		}
		q.Note(err)
		first = cmp.Or(first, err)
	}
	return out, first
}

// newCommand returns a command with nothing but its text. What a driver or an exception does not keep stays unknown: a
// zero time would be a date.
func newCommand(a target.Addr, text answer.Text) *answer.SQLCommand {
	c := &answer.SQLCommand{Address: a, Text: text}
	c.Procedure, c.Timeout = answer.Missing[bool](objects.ErrNoField), answer.Missing[*int64](objects.ErrNoField)
	c.Deadline, c.Since = answer.Missing[time.Time](objects.ErrNoField), answer.Missing[time.Time](objects.ErrNoField)
	c.Age, c.Limit = answer.Missing[int64](objects.ErrNoField), answer.Missing[int64](objects.ErrNoField)
	return c
}

// timeout returns a command's timeout, from a Nullable or a number, or nil if it was not set.
func (q *query) timeout(f *objects.ValueField, x objects.Instance) answer.Maybe[*int64] {
	v := f.Value(x)
	if s, err := v.Struct(); err == nil {
		var has bool
		if v, has, err = q.Binder.Nullable(s); err != nil || !has {
			q.Note(err)
			return answer.Of[*int64](nil, err)
		}
	}
	n, err := v.Int()
	if err != nil {
		q.Note(err)
		return answer.Of[*int64](nil, err)
	}
	return answer.Known(&n)
}

// plain returns the value that a field refers to as text.
func (q *query) plain(f *objects.RefField, x objects.Instance) string {
	o, err := f.Object(x)
	if err == nil && o.IsString() {
		var s string
		if s, err = o.Start(limits.RequestText); err == nil {
			return s
		}
	}
	switch {
	case err != nil:
		q.Note(err)
		return answer.Absent(err)
	case o.Addr == 0:
		return "null"
	case o.IsBoxed():
		return q.Plain(o.Boxed(), limits.RequestText)
	}
	line := o.Line(limits.RequestText)
	q.Note(line.Err())
	return line.String()
}
