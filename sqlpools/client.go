package sqlpools

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/target"
)

// running notes whose a command is: of a connection and, if it runs, of its parser.
func (q *query) running(o objects.Object, s *clientCommand, x shapes.Instance) {
	if a := q.address(&s.Connection, x); a != 0 {
		q.made[a] = o
	}
	if state, at := bind[clientState](q, &s.State, x); state != nil {
		if a := q.address(&state.Parser, at); a != 0 {
			q.commands[a] = o
		}
	}
}

// client tells of a pool of SqlClient.
func (q *query) client(o objects.Object, s *clientPool, x shapes.Instance) {
	out := answer.SQLPool{Address: o.Addr, Type: q.typeName(o), State: state(&s.State, x), Open: q.number(&s.Total, x), Blocked: q.number(&s.Blocked, x).Value != 0,
		Min: answer.Maybe[int64]{Err: errNoField}, Max: answer.Maybe[int64]{Err: errNoField}, Connections: []answer.SQLConnection{}}
	if g, at := bind[clientGroup](q, &s.Group, x); g != nil {
		if k, at := bind[clientKey](q, &g.Key, at); k != nil {
			out.Connection = q.text(&k.String, at)
		}
	}
	if g, at := bind[clientOptions](q, &s.Options, x); g != nil {
		out.Min, out.Max = q.number(&g.Min, at), q.number(&g.Max, at)
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
	out.Waiting = q.number(&s.Waits, x)
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
	s, x := bindObject[clientConnection](q, o)
	if s == nil {
		return
	}
	c.Opened, c.Database = q.opened(&s.Created, x), q.text(&s.Database, x)
	if weak, err := s.Owner.Object(x); err != nil {
		q.out.Note(err)
	} else if weak.Addr != 0 {
		owner, err := q.b.Weak(weak)
		q.out.Note(err)
		c.Owner = owner.Addr
	}
	p, at := bind[clientParser](q, &s.Parser, x)
	if p == nil {
		return
	}
	c.Transaction = q.address(&p.Transaction, at) != 0
	if command, ok := q.ownerOf(p, at); ok {
		c.Command = q.clientCommand(command, true)
	} else if command, ok := q.commands[q.address(&s.Parser, x)]; ok { // several results at once have states of their own
		c.Command = q.clientCommand(command, true)
	} else if command, ok := q.made[c.Owner]; ok {
		c.Command = q.clientCommand(command, false)
	}
}

// ownerOf is the command that a parser works for: the owner of its state, or of the reader that is.
func (q *query) ownerOf(p *clientParser, x shapes.Instance) (objects.Object, bool) {
	s, at := bind[clientState](q, &p.State, x)
	if s == nil {
		return objects.Object{}, false
	}
	weak, err := s.Owner.Object(at)
	if err != nil || weak.Addr == 0 {
		q.out.Note(err)
		return objects.Object{}, false
	}
	o, err := q.b.Weak(weak)
	if err != nil {
		q.out.Note(err)
		return objects.Object{}, false
	}
	if r, at := bindObject[clientReader](q, o); r != nil {
		if o, err = r.Command.Object(at); err != nil {
			q.out.Note(err)
			return objects.Object{}, false
		}
	}
	c, _ := bindObject[clientCommand](q, o)
	return o, c != nil
}

// clientCommand tells of a command; nil for what is none.
func (q *query) clientCommand(o objects.Object, running bool) *answer.SQLCommand {
	s, x := bindObject[clientCommand](q, o)
	if s == nil {
		return nil
	}
	out := &answer.SQLCommand{Address: o.Addr, Running: running, Text: q.text(&s.Text, x), Procedure: q.number(&s.Type, x).Value == storedProcedure, Timeout: q.timeout(&s.Timeout, x),
		Parameters: []answer.SQLParameter{}}
	p, at := bind[clientParameters](q, &s.Parameters, x)
	if p == nil {
		return out
	}
	list, _ := q.list(&p.Items, at)
	for _, o := range list {
		if s, x := bindObject[clientParameter](q, o); s != nil {
			out.Parameters = append(out.Parameters, answer.SQLParameter{Name: q.text(&s.Name, x), Value: plain(&s.Value, x)})
		}
	}
	return out
}

// storedProcedure is CommandType.StoredProcedure.
const storedProcedure = 4
