package sqlpools

import (
	"cmp"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// running maps a command to its connection and, while it executes, to its parser.
func (q *query) running(o objects.Object, s *clientCommand, x objects.Instance) {
	if a := q.PointerAt(&s.Connection, x).Value; a != 0 {
		q.made[a] = o
		q.commandsOf[a]++
	}
	if state, at := shapes.BindAt[*clientState](q.Reading, &s.State, x); state != nil {
		if a := q.PointerAt(&state.Parser, at).Value; a != 0 {
			q.commands[a] = o
		}
	}
}

// client describes a pool of SqlClient.
func (q *query) client(o objects.Object, s *clientPool, x objects.Instance) {
	out := q.clientPool(o, &s.State, &s.Group, &s.Options, x)
	out.Open, out.Blocked = q.IntAt(&s.Total, x), q.BoolAt(&s.Blocked, x)
	all, err := q.list(q.items.Objects(&s.Objects, x))
	var idle []objects.Object
	for _, f := range []*objects.RefField{&s.New, &s.Old} {
		some, ierr := q.list(q.items.Objects(f, x))
		idle = append(idle, some...)
		err = cmp.Or(err, ierr)
	}
	q.clientConnections(&out, all, idle, err)
	// A blocking call counts itself. An asynchronous call is queued until a thread waits for it.
	blocking := q.IntAt(&s.Waits, x)
	pending, err := q.list(q.items.Objects(&s.Pending, x))
	out.Waiting = answer.Of(blocking.Value+int64(len(pending)), cmp.Or(err, blocking.Err()))
	q.out.Pools = append(q.out.Pools, out)
}

// clientChannels describes a pool of SqlClient that keeps idle connections in a channel.
func (q *query) clientChannels(o objects.Object, s *clientChannels, x objects.Instance) {
	out := q.clientPool(o, &s.State, &s.Group, &s.Options, x)
	slots := q.ObjectAt(&s.Slots, x)
	if c, at := shapes.BindAs[*clientSlots](q.Reading, slots); c != nil {
		out.Open = q.IntAt(&c.Reserved, at)
		slots = q.ObjectAt(&c.Connections, at)
	}
	all, err := q.list(q.items.ObjectsIn(slots))
	if out.Open.Err() == objects.ErrNoField {
		out.Open = answer.Of(int64(len(all)), err)
	}
	reader := q.ObjectAt(&s.Idle, x)
	if c, at := shapes.BindAs[*clientIdle](q.Reading, reader); c != nil {
		reader = q.ObjectAt(&c.Reader, at)
	}
	var idle []objects.Object
	r, at := shapes.BindAs[*channelReader](q.Reading, reader)
	if r == nil {
		err = cmp.Or(err, target.Unsupportedf("the idle connections of pool %#x have an unknown layout", uint64(o.Addr)))
		q.Note(err)
		out.Waiting = answer.Missing[int64](err)
	} else {
		var ierr error
		idle, ierr = q.list(q.items.Objects(&r.Parent, at))
		err = cmp.Or(err, ierr)
		out.Waiting = q.blockedReaders(q.ObjectAt(&r.Parent, at))
	}
	q.clientConnections(&out, all, idle, err)
	q.out.Pools = append(q.out.Pools, out)
}

// clientPool describes the common fields of SqlClient's pools.
func (q *query) clientPool(o objects.Object, state *objects.IntField, group, options *objects.RefField, x objects.Instance) answer.SQLPool {
	none := answer.Missing[int64](objects.ErrNoField)
	out := answer.SQLPool{Address: o.Addr, Type: q.TypeText(o), State: q.EnumAt(state, x), Min: none, Max: none, Open: none,
		Blocked: answer.Missing[bool](objects.ErrNoField), Connections: []answer.SQLConnection{}}
	if g, at := shapes.BindAt[*clientGroup](q.Reading, group, x); g != nil {
		if k, at := shapes.BindAt[*clientKey](q.Reading, &g.Key, at); k != nil {
			out.Connection = q.TextAt(&k.String, at)
		}
	}
	timeout := none
	if g, at := shapes.BindAt[*clientOptions](q.Reading, options, x); g != nil {
		out.Min, out.Max, timeout = q.IntAt(&g.Min, at), q.IntAt(&g.Max, at), q.IntAt(&g.Timeout, at)
	}
	q.opened(&out, q.PointerAt(group, x).Value, timeout)
	return out
}

// clientConnections describes the busy connections: all except the idle ones. err reports that either list is
// incomplete.
func (q *query) clientConnections(out *answer.SQLPool, all, idle []objects.Object, err error) {
	free := map[target.Addr]bool{}
	for _, c := range idle {
		free[c.Addr] = true
	}
	for _, c := range all {
		if !free[c.Addr] {
			q.clientBusy(out, c)
		}
	}
	out.Idle, out.Busy = answer.Of(int64(len(free)), err), answer.Of(int64(len(out.Connections)), err)
}

// clientBusy describes a connection in use.
func (q *query) clientBusy(out *answer.SQLPool, o objects.Object) {
	unknown := target.Unsupportedf("the driver does not record it")
	c := answer.SQLConnection{Address: o.Addr, ProcessID: answer.Missing[int64](objects.ErrNoField), Transaction: answer.Missing[bool](unknown),
		Command: answer.Missing[*answer.SQLCommand](unknown)}
	defer func() { out.Connections = append(out.Connections, c) }()
	s, x := shapes.BindAs[*clientConnection](q.Reading, o)
	if s == nil {
		c.Owner.Maybe = answer.Missing[target.Addr](unknown)
		return
	}
	c.Opened, c.Database = q.TimeAt(&s.Created, x), q.TextAt(&s.Database, x)
	c.Owner = q.weak(&s.Owner, x)
	parser, err := s.Parser.Object(x)
	if err != nil {
		q.Note(err)
		c.Transaction, c.Command = answer.Missing[bool](err), answer.Missing[*answer.SQLCommand](err)
		return
	}
	p, at := shapes.BindAs[*clientParser](q.Reading, parser)
	if p == nil {
		return
	}
	transaction := q.PointerAt(&p.Transaction, at)
	c.Transaction = answer.Of(transaction.Value != 0, transaction.Err())
	command, err := q.ownerOf(p, at)
	running := command.Addr != 0
	if !running {
		command, running = q.commands[parser.Addr] // concurrent results have separate states
	}
	if !running {
		command = q.made[c.Owner.Value]
	}
	if !running && err != nil { // the last command may not be the running one
		c.Command = answer.Missing[*answer.SQLCommand](err)
		return
	}
	c.Command = answer.Known(q.clientCommand(command, running, &p.State, at))
}

// weak returns the target of the weak reference in a field.
func (q *query) weak(f *objects.RefField, x objects.Instance) answer.Pointer {
	o, err := f.Object(x)
	if err == nil && o.Addr != 0 {
		o, err = q.Binder.Weak(o)
	}
	return q.Pointer(o.Addr, err)
}

// ownerOf returns the command that a parser works for: the owner of its state, or of the reader that owns the state. It
// returns the zero Object if there is no command.
func (q *query) ownerOf(p *clientParser, x objects.Instance) (objects.Object, error) {
	state, err := p.State.Object(x)
	if err != nil {
		q.Note(err)
		return objects.Object{}, err
	}
	s, at := shapes.BindAs[*clientState](q.Reading, state)
	if s == nil {
		return objects.Object{}, nil
	}
	owner := q.weak(&s.Owner, at)
	if owner.Err() != nil || owner.Value == 0 {
		return objects.Object{}, owner.Err()
	}
	o, err := q.Binder.Objects().TrustedObject(owner.Value)
	if err == nil {
		if r, at := shapes.BindAs[*clientReader](q.Reading, o); r != nil {
			o, err = r.Command.Object(at)
		}
	}
	if err != nil {
		q.Note(err)
		return objects.Object{}, err
	}
	if c, _ := shapes.BindAs[*clientCommand](q.Reading, o); c == nil {
		return objects.Object{}, nil
	}
	return o, nil
}

// clientCommand describes a command. It returns nil for other objects. state is the field with the connection's state.
func (q *query) clientCommand(o objects.Object, running bool, state *objects.RefField, at objects.Instance) *answer.SQLCommand {
	s, x := shapes.BindAs[*clientCommand](q.Reading, o)
	if s == nil {
		return nil
	}
	kind := q.IntAt(&s.Type, x)
	out := newCommand(o.Addr, q.TextAt(&s.Text, x))
	out.Running, out.Timeout = running, q.timeout(&s.Timeout, x)
	out.Procedure = answer.Of(kind.Value == storedProcedure, kind.Err())
	if running {
		if own, ownAt := shapes.BindAt[*clientState](q.Reading, &s.State, x); own != nil {
			q.waits(out, own, ownAt)
		} else if whole, wholeAt := shapes.BindAt[*clientState](q.Reading, state, at); whole != nil {
			q.waits(out, whole, wholeAt)
		}
	}
	if p, at := shapes.BindAt[*clientParameters](q.Reading, &s.Parameters, x); p != nil {
		out.Parameters = q.clientValues(&p.Items, at)
	} else if a := q.PointerAt(&s.Parameters, x); a.Err() == nil && a.Value == 0 {
		out.Parameters = []answer.SQLParameter{}
	}
	return out
}

// clientValues returns the parameters in a list, or nil if they can't be read.
func (q *query) clientValues(f *objects.RefField, x objects.Instance) []answer.SQLParameter {
	list, err := q.list(q.items.Objects(f, x))
	if err != nil {
		return nil
	}
	out := []answer.SQLParameter{}
	for _, o := range list {
		if s, x := shapes.BindAs[*clientParameter](q.Reading, o); s != nil {
			out = append(out, answer.SQLParameter{Name: q.TextAt(&s.Name, x), Value: q.plain(&s.Value, x)})
		}
	}
	return out
}

// filetimeToTicks is the number of 100 ns ticks from year 1 to 1601, the epoch of file times.
const filetimeToTicks = 504911232000000000

// waits adds the deadline and the start of the client's wait for the server. The client sets the deadline when it has
// sent a command and when it wants more results. A command being canceled has another deadline.
func (q *query) waits(out *answer.SQLCommand, s *clientState, x objects.Instance) {
	breaking, deadline := q.BoolAt(&s.Breaking, x), q.IntAt(&s.Deadline, x)
	switch {
	case deadline.Err() != nil:
		out.Deadline, out.Since = answer.Missing[time.Time](deadline.Err()), answer.Missing[time.Time](deadline.Err())
		return
	case breaking.Value:
		return
	}
	t, ok := fileTime(deadline.Value)
	if !ok {
		return // no timeout, or not yet sent
	}
	out.Deadline = answer.Known(t)
	if limit := out.Timeout.Value; out.Timeout.Err() == nil && limit != nil && *limit > 0 {
		out.Since = answer.Known(t.Add(-time.Duration(*limit) * time.Second))
	}
}

// storedProcedure is CommandType.StoredProcedure.
const storedProcedure = 4
