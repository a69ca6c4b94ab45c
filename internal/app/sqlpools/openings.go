package sqlpools

import (
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Connections being opened. While SqlClient waits for or opens a connection, the SqlConnection has an inner connection
// of a special class.
type (
	clientOpening struct {
		_     objects.Shape    `of:"Microsoft.Data.SqlClient.SqlConnection|System.Data.SqlClient.SqlConnection"`
		Inner objects.RefField `field:"_innerConnection,optional"`
		Group objects.RefField `field:"_poolGroup,optional"`
	}
	connecting struct {
		_ objects.Shape `of:"Microsoft.Data.ProviderBase.DbConnectionClosedConnecting|System.Data.ProviderBase.DbConnectionClosedConnecting"`
	}
	// A pendingOpen is an OpenAsync that waits for a free connection. Its time is a file time.
	pendingOpen struct {
		_     objects.Shape    `of:"Microsoft.Data.SqlClient.ConnectionPool.WaitHandleDbConnectionPool+PendingGetConnection|Microsoft.Data.ProviderBase.DbConnectionPool+PendingGetConnection|System.Data.ProviderBase.DbConnectionPool+PendingGetConnection"`
		Due   objects.IntField `field:"<DueTime>,optional"`
		Owner objects.RefField `field:"<Owner>"`
	}
	// An openRetry leads from the task of an OpenAsync to the SqlConnection.
	openRetry struct {
		_      objects.Shape    `of:"Microsoft.Data.SqlClient.SqlConnection+OpenAsyncRetry|System.Data.SqlClient.SqlConnection+OpenAsyncRetry"`
		Parent objects.RefField `field:"_parent"`
		Result objects.RefField `field:"_result"`
	}
	completion struct {
		Task objects.RefField `field:"_task"`
	}
	sourceOpening struct {
		_     objects.Shape    `of:"Npgsql.NpgsqlConnection"`
		State objects.IntField `field:"_fullState"`
		Pool  objects.RefField `field:"_dataSource,optional"`
	}
)

// stateConnecting is ConnectionState.Connecting.
const stateConnecting = 2

// An opening is a connection that the program opens.
type opening struct {
	answer.SQLOpening
	of target.Addr // the pool, or the group of SqlClient's pools
}

// opening records an object that is part of an attempt to open a connection, and reports whether o is one.
func (q *query) opening(o objects.Object) bool {
	g := q.Reading
	if s, x := shapes.BindAs[*clientOpening](g, o); s != nil {
		inner := q.ObjectAt(&s.Inner, x)
		if inner.Addr != 0 {
			if c, _ := shapes.BindAs[*connecting](g, inner); c != nil {
				q.opens(o, q.PointerAt(&s.Group, x).Value)
			}
		}
	} else if s, x := shapes.BindAs[*sourceOpening](g, o); s != nil {
		if n := q.IntAt(&s.State, x); n.Err() == nil && n.Value == stateConnecting {
			q.opens(o, q.PointerAt(&s.Pool, x).Value)
		}
	} else if s, x := shapes.BindAs[*pendingOpen](g, o); s != nil {
		if due := q.IntAt(&s.Due, x); due.Err() == nil && due.Value > 0 {
			q.due[q.PointerAt(&s.Owner, x).Value] = due.Value
		}
	} else if s, x := shapes.BindAs[*openRetry](g, o); s != nil {
		if c, at := shapes.BindAt[*completion](g, &s.Result, x); c != nil {
			q.results[q.PointerAt(&c.Task, at).Value] = q.PointerAt(&s.Parent, x).Value
		}
	} else {
		return false
	}
	return true
}

func (q *query) opens(o objects.Object, of target.Addr) {
	none, never := answer.Missing[int64](objects.ErrNoField), answer.Missing[time.Time](objects.ErrNoField)
	q.openings = append(q.openings, opening{answer.SQLOpening{Owner: o.Addr, Since: never, Deadline: never, Age: none, Limit: none}, of})
}

// opened adds to a pool the connections being opened. timeout is how long the pool's calls may wait, in milliseconds.
func (q *query) opened(out *answer.SQLPool, of target.Addr, timeout answer.Maybe[int64]) {
	for i := range q.openings {
		o := &q.openings[i]
		if o.of != of || of == 0 {
			continue
		}
		if t, ok := fileTime(q.due[o.Owner]); ok {
			o.Deadline = answer.Known(t)
			if timeout.Err() == nil && timeout.Value > 0 {
				o.Since = answer.Known(t.Add(-time.Duration(timeout.Value) * time.Millisecond))
			}
		}
		out.Opening = append(out.Opening, o.SQLOpening)
	}
}

// fileTime converts a file time: ticks since 1601.
func fileTime(n int64) (time.Time, bool) {
	if n <= 0 || n > 1<<62-1-filetimeToTicks {
		return time.Time{}, false
	}
	t, err := objects.DateTime(uint64(n + filetimeToTicks))
	return t, err == nil
}
