package web

import (
	"context"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// StackExchange.Redis. A multiplexer has two bridges for each server, one for commands and one for subscriptions. A
// bridge queues commands while it has no connection. A connection keeps the commands that are sent and not answered.
// The names come from the sources of 2.0 to 3.1 and are not tested on a dump.
type (
	redisAnchor struct {
		_ objects.Shape `of:"StackExchange.Redis.ConnectionMultiplexer|StackExchange.Redis.PhysicalBridge"`
	}
	multiplexer struct {
		_             objects.Shape    `of:"StackExchange.Redis.ConnectionMultiplexer"`
		Disposed      objects.IntField `field:"_isDisposed,optional"`
		SyncTimeouts  objects.IntField `field:"syncTimeouts,optional"`
		AsyncTimeouts objects.IntField `field:"asyncTimeouts,optional"`
	}
	bridge struct {
		_           objects.Shape    `of:"StackExchange.Redis.PhysicalBridge"`
		Name        objects.RefField `field:"Name"`
		Multiplexer objects.RefField `field:"<Multiplexer>"`
		State       objects.IntField `field:"state"`
		Backlog     objects.RefField `field:"_backlog"`
		Connection  objects.RefField `field:"physical"`
		Disposed    objects.IntField `field:"isDisposed,optional"`
	}
	bridgeConnection struct {
		_    objects.Shape    `of:"StackExchange.Redis.PhysicalConnection"`
		Sent objects.RefField `field:"_writtenAwaitingResponse"`
	}
	redisMessage struct {
		_       objects.Shape    `of:"StackExchange.Redis.Message"`
		Command objects.IntField `field:"command"`
		Created objects.IntField `field:"CreatedDateTime._dateData,optional"`
	}
)

// bridgeStates are the values of StackExchange.Redis.PhysicalBridge+State.
var bridgeStates = []string{"Connecting", "ConnectedEstablishing", "ConnectedEstablished", "Disconnected"}

// Redis lists the connections of StackExchange.Redis with the commands that wait for a connection or an answer. The
// error is ctx's.
func (r *Reader) Redis(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.Redis, error) {
	out := &answer.Redis{Multiplexers: []answer.RedisMultiplexer{}}
	g := r.reading(&out.Gaps)
	index := map[target.Addr]int{}
	var bridges []objects.Object
	for object := range shapes.ReadObjects[*redisAnchor](ctx, g, h, o) {
		s, x := shapes.BindAs[*multiplexer](g, object)
		if s == nil {
			bridges = append(bridges, object)
			continue
		}
		index[object.Addr] = len(out.Multiplexers)
		out.Multiplexers = append(out.Multiplexers, answer.RedisMultiplexer{Address: object.Addr, Disposed: g.BoolAt(&s.Disposed, x), SyncTimeouts: g.IntAt(&s.SyncTimeouts, x),
			AsyncTimeouts: g.IntAt(&s.AsyncTimeouts, x), Connections: []answer.RedisConnection{}})
	}
	for _, object := range bridges {
		s, x := shapes.BindAs[*bridge](g, object)
		if s == nil || g.BoolAt(&s.Disposed, x).Value {
			continue
		}
		if n, ok := index[g.PointerAt(&s.Multiplexer, x).Value]; ok {
			m := &out.Multiplexers[n]
			m.Connections = append(m.Connections, r.bridge(g, object, s, x))
			c := &m.Connections[len(m.Connections)-1]
			for _, v := range []*answer.Verdict{backlog(c), silent(c, h.Runtime().Target().Process().DumpTime)} {
				if v != nil && !m.Disposed.Value {
					out.Verdicts = append(out.Verdicts, *v)
				}
			}
		}
	}
	return out, ctx.Err()
}

// bridge describes a connection.
func (r *Reader) bridge(g shapes.Reading, o objects.Object, s *bridge, x objects.Instance) answer.RedisConnection {
	out := answer.RedisConnection{Address: o.Addr, Name: g.TextAt(&s.Name, x)}
	state := g.IntAt(&s.State, x)
	if out.State.Err = state.Err(); state.Err() == nil {
		if state.Value < 0 || state.Value >= int64(len(bridgeStates)) {
			out.State = g.Text("", target.Unsupportedf("state %d of connection %#x is unknown", state.Value, uint64(o.Addr)))
		} else {
			out.State.S = bridgeStates[state.Value]
		}
	}
	out.Backlog = r.messages(g, &s.Backlog, x)
	if c, at := shapes.BindAt[*bridgeConnection](g, &s.Connection, x); c != nil {
		out.Sent = r.messages(g, &c.Sent, at)
	} else if p := g.PointerAt(&s.Connection, x); s.Connection.Has() && p.Err() == nil && p.Value == 0 {
		out.Sent.Count = answer.Known[int64](0) // it is not connected
	}
	return out
}

// messages describes a queue of commands.
func (r *Reader) messages(g shapes.Reading, f *objects.RefField, x objects.Instance) answer.RedisQueue {
	var out answer.RedisQueue
	count, lost := int64(0), error(nil)
	for o, err := range r.items.Objects(f, x) {
		if err != nil {
			g.Note(err)
			lost = err
			continue
		}
		count++
		s, at := shapes.BindAs[*redisMessage](g, o)
		if s == nil || out.First != 0 {
			continue
		}
		out.First, out.Command, out.Since = o.Addr, g.EnumAt(&s.Command, at), g.TimeAt(&s.Created, at)
	}
	out.Count = answer.Of(count, lost)
	return out
}

// Thresholds for a server that does not answer. It answers commands in their order, each within milliseconds, and a client gives up after five
// seconds (asyncTimeout). A single slow command, such as a script, has few behind it.
const (
	unanswered  = 5 // commands
	slowCommand = 5 * time.Second
)

// silent concludes that a server does not answer the commands that it was sent. now is the time of the dump; without it nothing is concluded.
func silent(c *answer.RedisConnection, now time.Time) *answer.Verdict {
	n := c.Sent.Count.Value
	if now.IsZero() || n < unanswered || c.Sent.Since == nil || c.State.Err != nil || c.State.S != "ConnectedEstablished" || now.Sub(*c.Sent.Since) < slowCommand {
		return nil
	}
	least := answer.Statement{}
	if c.Sent.Count.Err() != nil {
		least = words.AtLeast.Of() // the rest of the queue can't be read
	}
	since := words.Duration(now.Sub(*c.Sent.Since).Round(time.Second))
	v := answer.Conclude(answer.FindingDependency, words.RedisSilent.Of(least, words.N(n), words.Text(c.Name.String()), words.Text(c.Sent.Command.String()), since),
		answer.StrengthRecorded, words.SentBy.Of(words.ShortObject(c.Address)))
	v.Count, v.Show = int(n), []string{"redis"}
	return &v
}

// backlogged is how many commands in the backlog of an established connection are a finding.
const backlogged = 100

// backlog concludes that commands wait for a missing connection, or for one that is too slow.
func backlog(c *answer.RedisConnection) *answer.Verdict {
	n := c.Backlog.Count.Value
	connected := c.State.S == "ConnectedEstablished"
	if n == 0 || c.State.Err != nil || connected && n < backlogged {
		return nil
	}
	least := answer.Statement{}
	if c.Backlog.Count.Err() != nil {
		least = words.AtLeast.Of() // the rest of the queue can't be read
	}
	server, state := words.Text(c.Name.String()), words.Text(c.State.String())
	text := words.Backlog.Of(least, words.N(n), server, state)
	if n == 1 {
		text = words.OneInBacklog.Of(least, server, state)
	}
	first := answer.Statement{}
	if c.Backlog.Since != nil {
		first = words.FirstCommand.Of(words.Text(c.Backlog.Command.String()), words.Text(c.Backlog.Since.Format("2006-01-02 15:04:05 MST")))
	}
	v := answer.Conclude(answer.FindingRedis, text, answer.StrengthRecorded, words.BacklogOf.Of(words.ShortObject(c.Address), first))
	v.Count, v.Show = int(n), []string{"redis"}
	return &v
}
