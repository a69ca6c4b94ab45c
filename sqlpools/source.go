package sqlpools

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/target"
)

// connectorStates are Npgsql's ConnectorState, which is stored as a number, and whether a command runs in it.
var connectorStates = []struct {
	name    string
	command bool
}{{"Closed", false}, {"Connecting", false}, {"Ready", false}, {"Executing", true}, {"Fetching", true}, {"Waiting", false}, {"Broken", false}, {"Copy", false}, {"Replication", false}}

// pendingTransaction is the status of a transaction whose BEGIN goes to the server with its first command.
const pendingTransaction = 0xff

// source tells of a pool of Npgsql.
func (q *query) source(o objects.Object, s *sourcePool, x shapes.Instance) {
	out := answer.SQLPool{Address: o.Addr, Type: q.TypeText(o), Connection: q.TextAt(&s.String, x), Min: q.IntAt(&s.Min, x), Max: q.IntAt(&s.Max, x),
		Open: q.IntAt(&s.Open, x), Idle: q.IntAt(&s.Idle, x), Waiting: q.blocked(s, x), Connections: []answer.SQLConnection{}}
	out.Busy = answer.Of(out.Open.Value-out.Idle.Value, out.Open.Err)
	if out.Busy.Err == nil {
		out.Busy.Err = out.Idle.Err
	}
	if out.Busy.Err == nil && (out.Idle.Value < 0 || out.Busy.Value < 0) {
		out.Busy.Err = target.Corruptf("the pool %#x has %d connections, and %d idle ones", uint64(o.Addr), out.Open.Value, out.Idle.Value)
		q.Note(out.Busy.Err)
	}
	list, _ := q.list(&s.Connectors, x)
	for _, c := range list {
		if s, x := shapes.As[connector](q.Reading, c); s != nil && q.PointerAt(&s.Connection, x).Value != 0 {
			out.Connections = append(out.Connections, q.connector(c, s, x))
		}
	}
	q.out.Pools = append(q.out.Pools, out)
}

// connector tells of a connection that somebody has.
func (q *query) connector(o objects.Object, s *connector, x shapes.Instance) answer.SQLConnection {
	out := answer.SQLConnection{Address: o.Addr, Owner: q.PointerAt(&s.Connection, x).Value, Opened: q.TimeAt(&s.Opened, x), ProcessID: q.IntAt(&s.Process, x).Value}
	if s.Transaction.Has() {
		n := q.IntAt(&s.Transaction, x).Value
		out.Transaction = n == 'T' || n == 'E' || uint8(n) == pendingTransaction
	}
	n := q.IntAt(&s.State, x)
	if n.Err != nil || n.Value < 0 || n.Value >= int64(len(connectorStates)) {
		return out
	}
	out.State = connectorStates[n.Value].name
	if !connectorStates[n.Value].command {
		return out // the command that it still names has run
	}
	if out.Command = q.sourceCommand(&s.Command, x); out.Command == nil {
		if r, at := shapes.At[sourceReader](q.Reading, &s.Reader, x); r != nil {
			out.Command = q.sourceCommand(&r.Command, at)
		}
	}
	return out
}

// sourceCommand tells of a command of Npgsql; nil for null.
func (q *query) sourceCommand(f *shapes.Ref, x shapes.Instance) *answer.SQLCommand {
	s, at := shapes.At[sourceCommand](q.Reading, f, x)
	if s == nil {
		return nil
	}
	out := &answer.SQLCommand{Address: q.PointerAt(f, x).Value, Running: true, Text: q.TextAt(&s.Text, at), Timeout: q.timeout(&s.Timeout, at), Parameters: []answer.SQLParameter{}}
	if s.Type.Has() {
		out.Procedure = q.IntAt(&s.Type, at).Value == storedProcedure
	}
	p, at := shapes.At[sourceParameters](q.Reading, &s.Parameters, at)
	if p == nil {
		return out
	}
	list, _ := q.list(&p.Items, at)
	for _, o := range list {
		if s, x := shapes.As[sourceParameter](q.Reading, o); s != nil {
			out.Parameters = append(out.Parameters, answer.SQLParameter{Name: q.TextAt(&s.Name, x), Value: plain(&s.Value, x)})
		}
	}
	return out
}

// blocked is how many calls wait for a connection: the readers that wait at the channel of idle ones.
func (q *query) blocked(s *sourcePool, x shapes.Instance) answer.Maybe[int64] {
	none := answer.Maybe[int64]{Err: shapes.ErrNoField}
	r, at := shapes.At[channelReader](q.Reading, &s.Channel, x)
	if r == nil {
		return none
	}
	c, at := shapes.At[channel](q.Reading, &r.Parent, at)
	if c == nil {
		return none
	}
	if d, at := shapes.At[deque](q.Reading, &c.Readers, at); d != nil {
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
		next, on := shapes.As[blockedReader](q.Reading, o)
		if next == nil {
			return answer.Of(n, target.Unsupportedf("the readers that wait at a channel are not known"))
		}
		f, at = &next.Next, on
	}
}
