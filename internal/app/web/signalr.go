package web

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Hubs of ASP.NET Core SignalR, and circuits of Blazor. The names come from the sources of ASP.NET Core 3.1 to 10 and
// are not tested on a dump.
type (
	hubAnchor struct {
		_ objects.Shape `of:"Microsoft.AspNetCore.SignalR.DefaultHubLifetimeManager<>|Microsoft.AspNetCore.SignalR.StackExchangeRedis.RedisHubLifetimeManager<>|Microsoft.AspNetCore.Components.Server.Circuits.CircuitHost"`
	}
	hubManager struct {
		_           objects.Shape    `of:"Microsoft.AspNetCore.SignalR.DefaultHubLifetimeManager<>|Microsoft.AspNetCore.SignalR.StackExchangeRedis.RedisHubLifetimeManager<>"`
		Connections objects.RefField `field:"_connections"`
		Groups      objects.RefField `field:"_groups"`
	}
	hubConnections struct {
		_    objects.Shape    `of:"Microsoft.AspNetCore.SignalR.HubConnectionStore"`
		List objects.RefField `field:"_connections"`
	}
	hubGroups struct {
		_    objects.Shape    `of:"Microsoft.AspNetCore.SignalR.Internal.HubGroupList"`
		List objects.RefField `field:"_groups"`
	}
	hubConnection struct {
		_       objects.Shape    `of:"Microsoft.AspNetCore.SignalR.HubConnectionContext"`
		User    objects.RefField `field:"<UserIdentifier>"`
		Hub     objects.RefField `field:"<Protocol>,optional"`
		Aborted objects.IntField `field:"_connectionAborted|_connectedAborted,optional"`
		Lock    objects.RefField `field:"_writeLock,optional"`
	}
	semaphore struct {
		_    objects.Shape    `of:"System.Threading.SemaphoreSlim"`
		Head objects.RefField `field:"m_asyncHead"`
	}
	semaphoreWait struct {
		_    objects.Shape    `of:"System.Threading.SemaphoreSlim+TaskNode"`
		Next objects.RefField `field:"Next"`
	}
	circuit struct {
		_        objects.Shape    `of:"Microsoft.AspNetCore.Components.Server.Circuits.CircuitHost"`
		ID       objects.RefField `field:"<CircuitId>.<Id>"`
		Client   objects.RefField `field:"<Client>"`
		Disposed objects.IntField `field:"_disposed"`
	}
	circuitClient struct {
		_         objects.Shape    `of:"Microsoft.AspNetCore.Components.Server.Circuits.CircuitClientProxy"`
		Connected objects.IntField `field:"<Connected>"`
		ID        objects.RefField `field:"<ConnectionId>"`
	}
)

// SignalR lists the hubs with their connections, users and groups, and the circuits of Blazor.
func (r *Reader) SignalR(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.SignalR, error) {
	out := &answer.SignalR{Hubs: []answer.SignalRHub{}, Circuits: []answer.BlazorCircuit{}}
	g := r.reading(&out.Gaps)
	for object := range shapes.ReadObjects[*hubAnchor](ctx, g, h, o) {
		if s, x := shapes.BindAs[*hubManager](g, object); s != nil {
			out.Hubs = append(out.Hubs, r.hub(g, object, s, x))
		} else if s, x := shapes.BindAs[*circuit](g, object); s != nil {
			c := answer.BlazorCircuit{Address: object.Addr, ID: g.TextAt(&s.ID, x), Disposed: g.BoolAt(&s.Disposed, x), Connected: answer.Missing[bool](objects.ErrNoField)}
			if p, at := shapes.BindAt[*circuitClient](g, &s.Client, x); p != nil {
				c.Connected, c.Connection = g.BoolAt(&p.Connected, at), g.TextAt(&p.ID, at)
			}
			out.Circuits = append(out.Circuits, c)
		}
	}
	return out, ctx.Err()
}

// hub describes a hub.
func (r *Reader) hub(g shapes.Reading, o objects.Object, s *hubManager, x objects.Instance) answer.SignalRHub {
	out := answer.SignalRHub{Address: o.Addr, Hub: g.TypeText(o), Connections: []answer.SignalRConnection{}, Groups: []answer.SignalRGroup{}}
	if _, of, ok := strings.Cut(out.Hub.S, "<"); ok {
		out.Hub.S = strings.TrimSuffix(of, ">")
	}
	if list, at := shapes.BindAt[*hubConnections](g, &s.Connections, x); list != nil {
		for item, err := range r.items.ItemsAt(&list.List, at) {
			if err != nil {
				g.Note(err)
				continue
			}
			if len(out.Connections) == limits.HubConnections {
				out.More++
				continue
			}
			c := answer.SignalRConnection{ID: g.Text(item.Key.Start(limits.RequestText))}
			if context, err := item.Value.Object(); err != nil {
				g.Note(err)
			} else {
				r.hubConnection(g, &c, context)
			}
			out.Connections = append(out.Connections, c)
		}
	}
	if list, at := shapes.BindAt[*hubGroups](g, &s.Groups, x); list != nil {
		for item, err := range r.items.ItemsAt(&list.List, at) {
			if err != nil {
				g.Note(err)
				continue
			}
			if len(out.Groups) == limits.HubConnections {
				g.Note(target.Unsupportedf("hub %x has more than %d groups: the others are not listed", uint64(o.Addr), limits.HubConnections))
				break
			}
			group := answer.SignalRGroup{Name: g.Text(item.Key.Start(limits.RequestText))}
			members, err := item.Value.Object()
			if err == nil {
				group.Connections = r.countOf(g, r.items.ObjectsIn(members))
			} else {
				group.Connections = answer.Missing[int64](err)
				g.Note(err)
			}
			out.Groups = append(out.Groups, group)
		}
	}
	return out
}

// hubConnection describes a client of a hub.
func (r *Reader) hubConnection(g shapes.Reading, out *answer.SignalRConnection, o objects.Object) {
	out.Address, out.Waiting = o.Addr, answer.Missing[int64](objects.ErrNoField)
	s, x := shapes.BindAs[*hubConnection](g, o)
	if s == nil {
		return
	}
	out.User, out.Aborted = g.TextAt(&s.User, x), g.BoolAt(&s.Aborted, x)
	if p := g.ObjectAt(&s.Hub, x); p.Addr != 0 {
		out.Protocol = g.TypeText(p)
	}
	if l, at := shapes.BindAt[*semaphore](g, &s.Lock, x); l != nil {
		out.Waiting = r.waitersOf(g, l, at)
	}
}

// waitersOf counts the asynchronous waits for a semaphore.
func (r *Reader) waitersOf(g shapes.Reading, s *semaphore, x objects.Instance) answer.Maybe[int64] {
	seen := map[target.Addr]bool{}
	node := g.ObjectAt(&s.Head, x)
	for node.Addr != 0 {
		if seen[node.Addr] || len(seen) == limits.WorkItems {
			return answer.Of(int64(len(seen)), target.CorruptHeapf("the list of waits for a semaphore does not end"))
		}
		seen[node.Addr] = true
		n, at := shapes.BindAs[*semaphoreWait](g, node)
		if n == nil {
			return answer.Of(int64(len(seen)), target.Unsupportedf("a wait of type %s", g.TypeText(node)))
		}
		var err error
		if node, err = n.Next.Object(at); err != nil {
			g.Note(err)
			return answer.Of(int64(len(seen)), err)
		}
	}
	return answer.Known(int64(len(seen)))
}
