package web

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A webSocket is one end of a WebSocket: a server's or a ClientWebSocket's.
type webSocket struct {
	_             objects.Shape      `of:"System.Net.WebSockets.ManagedWebSocket"`
	Server        objects.IntField   `field:"_isServer"`
	State         objects.IntField   `field:"_state"`
	Protocol      objects.RefField   `field:"_subprotocol"`
	Disposed      objects.IntField   `field:"_disposed"`
	SentClose     objects.IntField   `field:"_sentCloseFrame,optional"`
	ReceivedClose objects.IntField   `field:"_receivedCloseFrame,optional"`
	CloseStatus   objects.ValueField `field:"_closeStatus,optional"`
	CloseText     objects.RefField   `field:"_closeStatusDescription,optional"`
}

// WebSockets lists the WebSockets that clients opened and the process opened itself, with the async code that refers to
// each. It records what could not be read. The error is ctx's.
func (r *Reader) WebSockets(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.WebSockets, error) {
	out := &answer.WebSockets{Sockets: []answer.WebSocket{}}
	g := r.reading(&out.Gaps)
	at := map[target.Addr]int{}
	for f, err := range objects.BoundObjects[*webSocket](ctx, r.b, h, nil, o) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			g.Note(err)
			continue
		}
		at[f.Object.Addr] = len(out.Sockets)
		out.Sockets = append(out.Sockets, r.socket(g, f.Object.Addr, f.Shape, f.At()))
	}
	err := r.inHand(ctx, g, h, o, at, func(i int, s *answer.AsyncWork) { out.Sockets[i].Stack = s })
	return out, err
}

// socket describes one end of a WebSocket.
func (r *Reader) socket(g shapes.Reading, a target.Addr, s *webSocket, x objects.Instance) answer.WebSocket {
	out := answer.WebSocket{Address: a, Server: g.BoolAt(&s.Server, x), State: g.EnumAt(&s.State, x), Protocol: g.TextAt(&s.Protocol, x),
		Disposed: g.BoolAt(&s.Disposed, x), SentClose: g.BoolAt(&s.SentClose, x), ReceivedClose: g.BoolAt(&s.ReceivedClose, x), CloseText: g.TextAt(&s.CloseText, x)}
	if !s.CloseStatus.Has() {
		return out
	}
	v, err := s.CloseStatus.Value(x).Struct()
	if err != nil {
		out.CloseStatus = g.Text("", err)
		return out
	}
	status, has, err := r.b.Nullable(v)
	switch {
	case err != nil:
		out.CloseStatus = g.Text("", err)
	case has:
		out.CloseStatus = g.Text(status.Plain(0), status.Err())
	}
	return out
}
