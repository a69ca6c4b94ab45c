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
	out := answer.SQLPool{Address: o.Addr, Type: q.typeName(o), Connection: q.text(&s.String, x), Min: q.number(&s.Min, x), Max: q.number(&s.Max, x),
		Open: q.number(&s.Open, x), Idle: q.number(&s.Idle, x), Waiting: q.blocked(s, x), Connections: []answer.SQLConnection{}}
	out.Busy = answer.Of(out.Open.Value-out.Idle.Value, out.Open.Err)
	if out.Busy.Err == nil {
		out.Busy.Err = out.Idle.Err
	}
	if out.Busy.Err == nil && (out.Idle.Value < 0 || out.Busy.Value < 0) {
		out.Busy.Err = target.Corruptf("the pool %#x has %d connections, and %d idle ones", uint64(o.Addr), out.Open.Value, out.Idle.Value)
		q.out.Note(out.Busy.Err)
	}
	list, _ := q.list(&s.Connectors, x)
	for _, c := range list {
		if s, x := bindObject[connector](q, c); s != nil && q.address(&s.Connection, x) != 0 {
			out.Connections = append(out.Connections, q.connector(c, s, x))
		}
	}
	q.out.Pools = append(q.out.Pools, out)
}

// connector tells of a connection that somebody has.
func (q *query) connector(o objects.Object, s *connector, x shapes.Instance) answer.SQLConnection {
	out := answer.SQLConnection{Address: o.Addr, Owner: q.address(&s.Connection, x), Opened: q.opened(&s.Opened, x), ProcessID: q.number(&s.Process, x).Value}
	if s.Transaction.Has() {
		n := q.number(&s.Transaction, x).Value
		out.Transaction = n == 'T' || n == 'E' || uint8(n) == pendingTransaction
	}
	n := q.number(&s.State, x)
	if n.Err != nil || n.Value < 0 || n.Value >= int64(len(connectorStates)) {
		return out
	}
	out.State = connectorStates[n.Value].name
	if !connectorStates[n.Value].command {
		return out // the command that it still names has run
	}
	if out.Command = q.sourceCommand(&s.Command, x); out.Command == nil {
		if r, at := bind[sourceReader](q, &s.Reader, x); r != nil {
			out.Command = q.sourceCommand(&r.Command, at)
		}
	}
	return out
}

// sourceCommand tells of a command of Npgsql; nil for null.
func (q *query) sourceCommand(f *shapes.Ref, x shapes.Instance) *answer.SQLCommand {
	s, at := bind[sourceCommand](q, f, x)
	if s == nil {
		return nil
	}
	out := &answer.SQLCommand{Address: q.address(f, x), Running: true, Text: q.text(&s.Text, at), Timeout: q.timeout(&s.Timeout, at), Parameters: []answer.SQLParameter{}}
	if s.Type.Has() {
		out.Procedure = q.number(&s.Type, at).Value == storedProcedure
	}
	p, at := bind[sourceParameters](q, &s.Parameters, at)
	if p == nil {
		return out
	}
	list, _ := q.list(&p.Items, at)
	for _, o := range list {
		if s, x := bindObject[sourceParameter](q, o); s != nil {
			out.Parameters = append(out.Parameters, answer.SQLParameter{Name: q.text(&s.Name, x), Value: plain(&s.Value, x)})
		}
	}
	return out
}

// blocked is how many calls wait for a connection: the readers that wait at the channel of idle ones.
func (q *query) blocked(s *sourcePool, x shapes.Instance) answer.Maybe[int64] {
	none := answer.Maybe[int64]{Err: errNoField}
	r, at := bind[channelReader](q, &s.Channel, x)
	if r == nil {
		return none
	}
	c, at := bind[channel](q, &r.Parent, at)
	if c == nil {
		return none
	}
	if d, at := bind[deque](q, &c.Readers, at); d != nil {
		return q.number(&d.Size, at)
	}
	if !c.Head.Has() {
		return none
	}
	n := int64(0)
	seen := map[target.Addr]bool{}
	for f := &c.Head; ; {
		o, err := f.Object(at)
		if err != nil || o.Addr == 0 || seen[o.Addr] {
			q.out.Note(err)
			return answer.Of(n, err)
		}
		seen[o.Addr] = true
		n++
		next, on := bindObject[blockedReader](q, o)
		if next == nil {
			return answer.Of(n, target.Unsupportedf("the readers that wait at a channel are not known"))
		}
		f, at = &next.Next, on
	}
}
