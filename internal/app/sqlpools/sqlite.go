package sqlpools

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Microsoft.Data.Sqlite. Since version 6 it has pools, without a limit. Connections outside of pools are listed by
// connection string. The names come from the sources of 6.0 to 10.0 and are not tested on a dump.
type (
	sqlitePool struct {
		_           objects.Shape    `of:"Microsoft.Data.Sqlite.SqliteConnectionPool"`
		Connections objects.RefField `field:"_connections"`
		Warm        objects.RefField `field:"_warmPool"`
		Cold        objects.RefField `field:"_coldPool"`
		State       objects.IntField `field:"_state,optional"`
	}
	sqliteGroup struct {
		_      objects.Shape    `of:"Microsoft.Data.Sqlite.SqliteConnectionPoolGroup"`
		Pool   objects.RefField `field:"_pool"`
		String objects.RefField `field:"<ConnectionString>"`
	}
	sqliteConnection struct {
		_           objects.Shape    `of:"Microsoft.Data.Sqlite.SqliteConnection"`
		String      objects.RefField `field:"_connectionString"`
		State       objects.IntField `field:"_state"`
		Inner       objects.RefField `field:"_innerConnection,optional"`
		Transaction objects.RefField `field:"<Transaction>,optional"`
	}
	sqliteCommand struct {
		_          objects.Shape      `of:"Microsoft.Data.Sqlite.SqliteCommand"`
		Connection objects.RefField   `field:"_connection"`
		Text       objects.RefField   `field:"_commandText"`
		Reader     objects.RefField   `field:"<DataReader>,optional"`
		Timeout    objects.ValueField `field:"_commandTimeout"`
	}
	sqliteReader struct {
		_      objects.Shape    `of:"Microsoft.Data.Sqlite.SqliteDataReader"`
		Closed objects.IntField `field:"_closed"`
	}
	// A contextConnection is Entity Framework's object for a connection.
	contextConnection struct {
		_          objects.Shape    `of:"Microsoft.EntityFrameworkCore.Storage.RelationalConnection"`
		Connection objects.RefField `field:"_connection"`
		Context    objects.RefField `field:"<Context>,optional"`
	}
)

// stateOpen is ConnectionState.Open.
const stateOpen = 1

// sqlite holds the objects of Microsoft.Data.Sqlite and Entity Framework.
type sqlite struct {
	pools, connections []objects.Object
	strings            map[target.Addr]answer.Text    // by pool
	commands           map[target.Addr]objects.Object // by SqliteConnection: the running command
	contexts           map[target.Addr]objects.Object // by connection of any driver: the DbContext
}

// sqliteObject records an object of Microsoft.Data.Sqlite, and reports whether o is one.
func (q *query) sqliteObject(o objects.Object) bool {
	g := q.Reading
	if s, _ := shapes.BindAs[*sqlitePool](g, o); s != nil {
		q.lite.pools = append(q.lite.pools, o)
	} else if s, _ := shapes.BindAs[*sqliteConnection](g, o); s != nil {
		q.lite.connections = append(q.lite.connections, o)
	} else if s, x := shapes.BindAs[*sqliteGroup](g, o); s != nil {
		if a := q.PointerAt(&s.Pool, x).Value; a != 0 {
			q.lite.strings[a] = q.TextAt(&s.String, x)
		}
	} else if s, x := shapes.BindAs[*sqliteCommand](g, o); s != nil {
		r, at := shapes.BindAt[*sqliteReader](g, &s.Reader, x)
		if r == nil {
			return true
		}
		if closed := q.BoolAt(&r.Closed, at); closed.Err() == nil && !closed.Value {
			q.lite.commands[q.PointerAt(&s.Connection, x).Value] = o
		}
	} else if s, x := shapes.BindAs[*contextConnection](g, o); s != nil {
		if c := q.ObjectAt(&s.Context, x); c.Addr != 0 {
			q.lite.contexts[q.PointerAt(&s.Connection, x).Value] = c
		}
	} else {
		return false
	}
	return true
}

// sqlitePools adds the pools of Microsoft.Data.Sqlite and, by connection string, the open connections outside of pools.
func (q *query) sqlitePools() {
	outer := map[target.Addr]objects.Object{} // by inner connection
	listed := map[target.Addr]bool{}
	for _, o := range q.lite.connections {
		if s, x := shapes.BindAs[*sqliteConnection](q.Reading, o); s != nil {
			if a := q.PointerAt(&s.Inner, x).Value; a != 0 {
				outer[a] = o
			}
		}
	}
	for _, o := range q.lite.pools {
		s, x := shapes.BindAs[*sqlitePool](q.Reading, o)
		if s == nil {
			continue
		}
		out := q.sqlitePool(o, q.lite.strings[o.Addr])
		if out.State = q.EnumAt(&s.State, x); out.State.S == "Active" {
			out.State.S = ""
		}
		all, err := q.list(q.items.Objects(&s.Connections, x))
		idle := map[target.Addr]bool{}
		for _, f := range []*objects.RefField{&s.Warm, &s.Cold} {
			some, ierr := q.list(q.items.Objects(f, x))
			for _, c := range some {
				idle[c.Addr] = true
			}
			if err == nil {
				err = ierr
			}
		}
		for _, c := range all {
			if !idle[c.Addr] {
				listed[outer[c.Addr].Addr] = true
				out.Connections = append(out.Connections, q.sqliteBusy(c.Addr, outer[c.Addr]))
			}
		}
		out.Open, out.Idle, out.Busy = answer.Of(int64(len(all)), err), answer.Of(int64(len(idle)), err), answer.Of(int64(len(out.Connections)), err)
		q.out.Pools = append(q.out.Pools, out)
	}
	q.sqliteAlone(listed)
}

// sqliteAlone adds the open connections outside of pools.
func (q *query) sqliteAlone(listed map[target.Addr]bool) {
	at := map[string]int{}
	for _, o := range q.lite.connections {
		s, x := shapes.BindAs[*sqliteConnection](q.Reading, o)
		if s == nil || listed[o.Addr] {
			continue
		}
		state := q.IntAt(&s.State, x)
		if state.Err() != nil || state.Value != stateOpen {
			continue
		}
		text := q.TextAt(&s.String, x)
		n, ok := at[text.S]
		if !ok {
			n = len(q.out.Pools)
			at[text.S] = n
			out := q.sqlitePool(objects.Object{}, text)
			out.Type = q.TypeText(o)
			q.out.Pools = append(q.out.Pools, out)
		}
		p := &q.out.Pools[n]
		p.Connections = append(p.Connections, q.sqliteBusy(q.PointerAt(&s.Inner, x).Value, o))
		p.Open, p.Busy = answer.Known(int64(len(p.Connections))), answer.Known(int64(len(p.Connections)))
	}
}

// sqlitePool describes a pool without its connections. o is the zero Object for connections outside of pools.
func (q *query) sqlitePool(o objects.Object, text answer.Text) answer.SQLPool {
	none := answer.Missing[int64](objects.ErrNoField)
	out := answer.SQLPool{Address: o.Addr, Connection: text, Min: none, Max: none, Waiting: none, Idle: none,
		Blocked: answer.Missing[bool](objects.ErrNoField), Connections: []answer.SQLConnection{}}
	if o.Addr != 0 {
		out.Type = q.TypeText(o)
	}
	return out
}

// errOwnerGone reports that the owner of a connection is gone, and with it the transaction and the command.
var errOwnerGone = target.Unsupportedf("the SqliteConnection that knew it is gone")

// sqliteBusy describes a connection in use. outer is the SqliteConnection, or the zero Object if it is gone.
func (q *query) sqliteBusy(inner target.Addr, outer objects.Object) answer.SQLConnection {
	c := answer.SQLConnection{Address: inner, ProcessID: answer.Missing[int64](objects.ErrNoField), Owner: q.Pointer(outer.Addr, nil)}
	s, x := shapes.BindAs[*sqliteConnection](q.Reading, outer)
	if s == nil {
		c.Transaction, c.Command = answer.Missing[bool](errOwnerGone), answer.Missing[*answer.SQLCommand](errOwnerGone)
		return c
	}
	transaction := q.PointerAt(&s.Transaction, x)
	c.Transaction = answer.Of(transaction.Value != 0, transaction.Err())
	c.Command = answer.Known[*answer.SQLCommand](nil)
	command := q.lite.commands[outer.Addr]
	if s, x := shapes.BindAs[*sqliteCommand](q.Reading, command); s != nil {
		running := newCommand(command.Addr, q.TextAt(&s.Text, x))
		running.Running, running.Timeout = true, q.timeout(&s.Timeout, x)
		c.Command = answer.Known(running)
	}
	return c
}

// contexts adds to each connection the DbContext that uses it.
func (q *query) contexts() {
	for i := range q.out.Pools {
		for n := range q.out.Pools[i].Connections {
			c := &q.out.Pools[i].Connections[n]
			if o := q.lite.contexts[c.Owner.Value]; o.Addr != 0 && c.Owner.Value != 0 {
				c.Context, c.ContextType = o.Addr, q.TypeText(o)
			}
		}
	}
}
