package tasks

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Sockets (System.Net.Sockets, Socket.cs and SocketAsyncEventArgs.cs). Connect leaves the peer in _rightEndPoint, and RemoteEndPoint copies it to
// _remoteEndPoint when it is first read. An accepted socket has the end of its listener in the first, and its client in the second. One that was
// bound has its own end in the first.
type (
	socketArgs struct {
		_         objects.Shape    `of:"System.Net.Sockets.SocketAsyncEventArgs"`
		Socket    objects.RefField `field:"_currentSocket"`
		Operation objects.IntField `field:"_completedOperation"` // set when the operation begins
		Remote    objects.RefField `field:"_remoteEndPoint"`
	}
	socketShape struct {
		_         objects.Shape    `of:"System.Net.Sockets.Socket"`
		Right     objects.RefField `field:"_rightEndPoint"`
		Remote    objects.RefField `field:"_remoteEndPoint"`
		Local     objects.RefField `field:"_localEndPoint,optional"`
		Connected objects.IntField `field:"_isConnected"`
		Type      objects.IntField `field:"_socketType"`
	}
)

// A networkStream is a stream over a socket (NetworkStream.cs).
type networkStream struct {
	_      objects.Shape    `of:"System.Net.Sockets.NetworkStream"`
	Socket objects.RefField `field:"_streamSocket"`
}

// NamePeer adds the peer to the activity of a thread that waits for the network, if the process has connected the socket that the frames of its wait
// refer to. To the wait for a child process or for the server of a pipe it adds which one. It notes what it can't read.
func NamePeer(ctx context.Context, b *objects.Binder, w *stackwalk.Walker, t *stackwalk.Thread, gaps *answer.Gaps, a *threads.ThreadActivity) {
	if w := OutsideOf(ctx, b, w, nil, t, gaps, a); w != nil {
		a.Text = "waits for " + w.Says.Text
		return
	}
	if a.Activity != threads.ActivitySocket || t.OS == nil || t.Managed == nil {
		return
	}
	g := shapes.Reading{Gaps: gaps, Binder: b}
	for o := range objectsOfCall(ctx, b, w, t, a) {
		if s, x, is, err := shapes.TryBind[*networkStream](b, o); is && err == nil {
			o = g.ObjectAt(&s.Socket, x)
		}
		if is, err := objects.IsShape[*socketShape](b, o.Type); !is || err != nil {
			continue
		}
		if peer := peerOf(g, o); peer != "" {
			a.Text = "waits for the network (" + peer + ")"
		}
		return
	}
}

// Members of SocketAsyncOperation and SocketType.
const (
	socketConnect = 2
	socketReceive = 4
	socketSend    = 7
	socketStream  = 1
)

// withPeer adds to a statement about an operation of a socket, the object at a, what it waits for from which peer, if the process has connected the
// socket. The peer of an accepted socket is a client, which sends when it likes. It notes what it can't read.
func (r *Reader) withPeer(gaps *answer.Gaps, a target.Addr, says answer.Statement) answer.Statement {
	if says.Says != words.OfASocket.Kind() {
		return says
	}
	g := shapes.Reading{Gaps: gaps, Binder: r.b}
	o, err := r.r.TrustedObject(a)
	if err != nil {
		g.Note(err)
		return says
	}
	s, x := shapes.BindAs[*socketArgs](g, o)
	if s == nil {
		return says
	}
	switch op := g.IntAt(&s.Operation, x); op.Value {
	case socketConnect:
		if peer := g.EndPoint(g.ObjectAt(&s.Remote, x)); peer != "" {
			return words.ConnectionTo.Of(words.Text(peer))
		}
	case socketReceive, socketSend:
		switch peer := peerOf(g, g.ObjectAt(&s.Socket, x)); {
		case peer == "":
		case op.Value == socketSend:
			return words.TakesData.Of(words.Text(peer))
		default:
			return words.DataFrom.Of(words.Text(peer))
		}
	}
	return says
}

// peerOf returns the other end of a stream socket that the process has connected, or "".
func peerOf(g shapes.Reading, socket objects.Object) string {
	s, x := shapes.BindAs[*socketShape](g, socket)
	if s == nil {
		return ""
	}
	connected, kind := g.IntAt(&s.Connected, x), g.IntAt(&s.Type, x)
	if connected.Err() != nil || connected.Value == 0 || kind.Err() != nil || kind.Value != socketStream {
		return ""
	}
	peer := g.EndPoint(g.ObjectAt(&s.Right, x))
	if remote := g.ObjectAt(&s.Remote, x); remote.Addr != 0 && g.EndPoint(remote) != peer {
		return "" // accepted, or bound
	}
	if local := g.ObjectAt(&s.Local, x); local.Addr != 0 && g.EndPoint(local) == peer {
		return "" // bound
	}
	return peer
}

// peerKinds are the kinds of statements about a wait for a peer of a socket.
var peerKinds = []string{words.DataFrom.Kind(), words.TakesData.Kind(), words.ConnectionTo.Kind()}

// peerIn returns the peer that a statement of socketWords names, or "".
func peerIn(why *answer.Statement) string {
	if slices.Contains(peerKinds, why.Says) && len(why.Args) == 1 {
		return why.Args[0].Value
	}
	return ""
}

// WaitsForPeer reports whether a statement is about a wait for another process, by way of a socket.
func WaitsForPeer(why answer.Statement) bool {
	return why.Says == words.OfASocket.Kind() || slices.Contains(peerKinds, why.Says)
}
