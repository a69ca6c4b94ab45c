package sqlpools

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/target"
)

// running notes whose a command is: of a connection and, if it runs, of its parser.
func (q *query) running(o objects.Object, s *clientCommand, x shapes.Instance) {
	if a := q.PointerAt(&s.Connection, x).Value; a != 0 {
		q.made[a] = o
	}
	if state, at := shapes.At[clientState](q.Reading, &s.State, x); state != nil {
		if a := q.PointerAt(&state.Parser, at).Value; a != 0 {
			q.commands[a] = o
		}
	}
}

// client tells of a pool of SqlClient.
func (q *query) client(o objects.Object, s *clientPool, x shapes.Instance) {
	out := answer.SQLPool{Address: o.Addr, Type: q.TypeText(o), State: state(&s.State, x), Open: q.IntAt(&s.Total, x), Blocked: q.IntAt(&s.Blocked, x).Value != 0,
		Min: answer.Maybe[int64]{Err: shapes.ErrNoField}, Max: answer.Maybe[int64]{Err: shapes.ErrNoField}, Connections: []answer.SQLConnection{}}
	if g, at := shapes.At[clientGroup](q.Reading, &s.Group, x); g != nil {
		if k, at := shapes.At[clientKey](q.Reading, &g.Key, at); k != nil {
			out.Connection = q.TextAt(&k.String, at)
		}
	}
	if g, at := shapes.At[clientOptions](q.Reading, &s.Options, x); g != nil {
		out.Min, out.Max = q.IntAt(&g.Min, at), q.IntAt(&g.Max, at)
	}
	free := map[target.Addr]bool{}
	all, err := q.list(&s.Objects, x)
	for _, f := range []*shapes.Ref{&s.New, &s.Old} {
		idle, ierr := q.list(f, x)
		for _, c := range idle {
			free[c.Addr] = true
		}
		if err == nil {
			err = ierr
		}
	}
	for _, c := range all {
		if !free[c.Addr] {
			q.clientBusy(&out, c)
		}
	}
	out.Idle, out.Busy = answer.Of(int64(len(free)), err), answer.Of(int64(len(out.Connections)), err)
	// A call that waits in a thread counts itself; one that is asynchronous stands in the queue until a thread waits for it.
	out.Waiting = q.IntAt(&s.Waits, x)
	pending, err := q.list(&s.Pending, x)
	if err != nil {
		out.Waiting.Err = err
	}
	out.Waiting.Value += int64(len(pending))
	q.out.Pools = append(q.out.Pools, out)
}

// state is the state of a pool by its name.
func state(f *shapes.Int, x shapes.Instance) answer.Text {
	v := f.Value(x)
	return answer.Text{S: v.Inline(0), Err: v.Err()}
}

// clientBusy tells of a connection that somebody has.
func (q *query) clientBusy(out *answer.SQLPool, o objects.Object) {
	c := answer.SQLConnection{Address: o.Addr}
	defer func() { out.Connections = append(out.Connections, c) }()
	s, x := shapes.As[clientConnection](q.Reading, o)
	if s == nil {
		return
	}
	c.Opened, c.Database = q.TimeAt(&s.Created, x), q.TextAt(&s.Database, x)
	if weak, err := s.Owner.Object(x); err != nil {
		q.Note(err)
	} else if weak.Addr != 0 {
		owner, err := q.b.Weak(weak)
		q.Note(err)
		c.Owner = owner.Addr
	}
	p, at := shapes.At[clientParser](q.Reading, &s.Parser, x)
	if p == nil {
		return
	}
	c.Transaction = q.PointerAt(&p.Transaction, at).Value != 0
	if command, ok := q.ownerOf(p, at); ok {
		c.Command = q.clientCommand(command, true)
	} else if command, ok := q.commands[q.PointerAt(&s.Parser, x).Value]; ok { // several results at once have states of their own
		c.Command = q.clientCommand(command, true)
	} else if command, ok := q.made[c.Owner]; ok {
		c.Command = q.clientCommand(command, false)
	}
}

// ownerOf is the command that a parser works for: the owner of its state, or of the reader that is.
func (q *query) ownerOf(p *clientParser, x shapes.Instance) (objects.Object, bool) {
	s, at := shapes.At[clientState](q.Reading, &p.State, x)
	if s == nil {
		return objects.Object{}, false
	}
	weak, err := s.Owner.Object(at)
	if err != nil || weak.Addr == 0 {
		q.Note(err)
		return objects.Object{}, false
	}
	o, err := q.b.Weak(weak)
	if err != nil {
		q.Note(err)
		return objects.Object{}, false
	}
	if r, at := shapes.As[clientReader](q.Reading, o); r != nil {
		if o, err = r.Command.Object(at); err != nil {
			q.Note(err)
			return objects.Object{}, false
		}
	}
	c, _ := shapes.As[clientCommand](q.Reading, o)
	return o, c != nil
}

// clientCommand tells of a command; nil for what is none.
func (q *query) clientCommand(o objects.Object, running bool) *answer.SQLCommand {
	s, x := shapes.As[clientCommand](q.Reading, o)
	if s == nil {
		return nil
	}
	out := &answer.SQLCommand{Address: o.Addr, Running: running, Text: q.TextAt(&s.Text, x), Procedure: q.IntAt(&s.Type, x).Value == storedProcedure, Timeout: q.timeout(&s.Timeout, x),
		Parameters: []answer.SQLParameter{}}
	p, at := shapes.At[clientParameters](q.Reading, &s.Parameters, x)
	if p == nil {
		return out
	}
	list, _ := q.list(&p.Items, at)
	for _, o := range list {
		if s, x := shapes.As[clientParameter](q.Reading, o); s != nil {
			out.Parameters = append(out.Parameters, answer.SQLParameter{Name: q.TextAt(&s.Name, x), Value: plain(&s.Value, x)})
		}
	}
	return out
}

// storedProcedure is CommandType.StoredProcedure.
const storedProcedure = 4
