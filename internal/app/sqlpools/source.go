package sqlpools

import (
	"cmp"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// connectorStates are the values of Npgsql's ConnectorState, and whether a command runs in each.
var connectorStates = []struct {
	name    string
	command bool
}{{"Closed", false}, {"Connecting", false}, {"Ready", false}, {"Executing", true}, {"Fetching", true}, {"Waiting", false}, {"Broken", false}, {"Copy", false}, {"Replication", false}}

// pendingTransaction is the status of a transaction before its BEGIN, which is sent with the first command.
const pendingTransaction = 0xff

// source describes a pool of Npgsql.
func (q *query) source(o objects.Object, s *sourcePool, x objects.Instance) {
	out := answer.SQLPool{Address: o.Addr, Type: q.TypeText(o), Connection: q.TextAt(&s.String, x), Min: q.IntAt(&s.Min, x), Max: q.IntAt(&s.Max, x),
		Open: q.IntAt(&s.Open, x), Idle: q.IntAt(&s.Idle, x), Waiting: q.blocked(s, x), Blocked: answer.Missing[bool](objects.ErrNoField), Connections: []answer.SQLConnection{}}
	out.Busy = answer.Of(out.Open.Value-out.Idle.Value, cmp.Or(out.Open.Err(), out.Idle.Err()))
	if out.Busy.Err() == nil && (out.Idle.Value < 0 || out.Busy.Value < 0) {
		out.Busy = answer.Missing[int64](target.CorruptHeapf("the pool %#x has %d connections, and %d idle ones", uint64(o.Addr), out.Open.Value, out.Idle.Value))
		q.Note(out.Busy.Err())
	}
	list, _ := q.list(q.items.Objects(&s.Connectors, x))
	for _, c := range list {
		if s, x := shapes.BindAs[*connector](q.Reading, c); s != nil && q.PointerAt(&s.Connection, x).Value != 0 {
			out.Connections = append(out.Connections, q.connector(c, s, x))
		}
	}
	q.opened(&out, o.Addr, answer.Missing[int64](objects.ErrNoField))
	q.out.Pools = append(q.out.Pools, out)
}

// connector describes a connection in use.
func (q *query) connector(o objects.Object, s *connector, x objects.Instance) answer.SQLConnection {
	transaction := q.IntAt(&s.Transaction, x)
	n := transaction.Value
	out := answer.SQLConnection{Address: o.Addr, Owner: q.PointerAt(&s.Connection, x), Opened: q.TimeAt(&s.Opened, x), ProcessID: q.IntAt(&s.Process, x),
		Transaction: answer.Of(n == 'T' || n == 'E' || uint8(n) == pendingTransaction, transaction.Err())}
	state := q.IntAt(&s.State, x)
	if state.Err() == nil && (state.Value < 0 || state.Value >= int64(len(connectorStates))) {
		state = answer.Missing[int64](target.Unsupportedf("state %d of connection %#x is unknown", state.Value, uint64(o.Addr)))
		q.Note(state.Err())
	}
	if state.Err() != nil {
		out.State.Err, out.Command = state.Err(), answer.Missing[*answer.SQLCommand](state.Err())
		return out
	}
	out.State.S = connectorStates[state.Value].name
	if !connectorStates[state.Value].command {
		out.Command = answer.Known[*answer.SQLCommand](nil) // it still names a command that has completed
		return out
	}
	command := q.sourceCommand(&s.Command, x)
	if command == nil {
		if r, at := shapes.BindAt[*sourceReader](q.Reading, &s.Reader, x); r != nil {
			command = q.sourceCommand(&r.Command, at)
		}
	}
	if command == nil {
		out.Command = answer.Missing[*answer.SQLCommand](target.Unsupportedf("the running command is unknown"))
		return out
	}
	if age, limit, ok := q.waitsFor(s, x); ok {
		command.Age, command.Limit = age, limit
	}
	out.Command = answer.Known(command)
	return out
}

// waitsFor returns for how long a connection has waited for what the server sends, and for how long it may, by the timer of the wait. Blocking calls have no timer.
func (q *query) waitsFor(s *connector, x objects.Instance) (age, limit answer.Maybe[int64], ok bool) {
	b, x := shapes.BindAt[*readBuffer](q.Reading, &s.Reads, x)
	if b == nil {
		return age, limit, false
	}
	r, x := shapes.BindAt[*resettable](q.Reading, &b.Source, x)
	if r == nil {
		return age, limit, false
	}
	return q.Countdown(q.ObjectAt(&r.Source, x), q.clock)
}

// sourceCommand describes a command of Npgsql. It returns nil for null.
func (q *query) sourceCommand(f *objects.RefField, x objects.Instance) *answer.SQLCommand {
	s, at := shapes.BindAt[*sourceCommand](q.Reading, f, x)
	if s == nil {
		return nil
	}
	kind := q.IntAt(&s.Type, at)
	out := newCommand(q.PointerAt(f, x).Value, q.TextAt(&s.Text, at))
	out.Running, out.Timeout = true, q.timeout(&s.Timeout, at)
	out.Procedure = answer.Of(kind.Value == storedProcedure, kind.Err())
	p, at := shapes.BindAt[*sourceParameters](q.Reading, &s.Parameters, at)
	if p == nil {
		return out
	}
	list, err := q.list(q.items.Objects(&p.Items, at))
	if err != nil {
		return out
	}
	out.Parameters = []answer.SQLParameter{}
	for _, o := range list {
		if s, x := shapes.BindAs[*sourceParameter](q.Reading, o); s != nil {
			out.Parameters = append(out.Parameters, answer.SQLParameter{Name: q.TextAt(&s.Name, x), Value: q.plain(&s.Value, x)})
		}
	}
	return out
}

// blocked returns how many calls wait for a connection, as readers of the channel of idle connections.
func (q *query) blocked(s *sourcePool, x objects.Instance) answer.Maybe[int64] {
	r, at := shapes.BindAt[*channelReader](q.Reading, &s.Channel, x)
	if r == nil {
		return answer.Missing[int64](objects.ErrNoField)
	}
	return q.blockedReaders(q.ObjectAt(&r.Parent, at))
}

// blockedReaders counts the readers that wait at a channel.
func (q *query) blockedReaders(o objects.Object) answer.Maybe[int64] {
	none := answer.Missing[int64](objects.ErrNoField)
	c, at := shapes.BindAs[*channel](q.Reading, o)
	if c == nil {
		return none
	}
	if d, at := shapes.BindAt[*deque](q.Reading, &c.Readers, at); d != nil {
		return q.IntAt(&d.Size, at)
	}
	if !c.Head.Has() {
		return none
	}
	n := int64(0)
	seen := map[target.Addr]bool{}
	for f := &c.Head; ; {
		o, err := f.Object(at)
		if err != nil || o.Addr == 0 || seen[o.Addr] {
			q.Note(err)
			return answer.Of(n, err)
		}
		seen[o.Addr] = true
		n++
		next, on := shapes.BindAs[*blockedReader](q.Reading, o)
		if next == nil {
			return answer.Of(n, target.Unsupportedf("the waiting readers of a channel have an unknown layout"))
		}
		f, at = &next.Next, on
	}
}
