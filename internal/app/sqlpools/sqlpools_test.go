package sqlpools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

type commandFact struct {
	Text          string
	Timeout       int64
	Type          string
	Database      string
	ProcessID     int64
	Parameters    []string
	InTransaction bool
}

type poolFact struct {
	ConnectionString                       string
	MaxPoolSize, Open, Busy, Idle, Waiters int64
	Commands                               []commandFact
}

func pools(t testing.TB, d *testdump.Dump, o sqlpools.Options) *answer.SQLPools {
	t.Helper()
	out := read(t, d.Dump, o)
	assert.Empty(t, out.Noted())
	return out
}

func read(t testing.TB, d *sosgo.Dump, o sqlpools.Options) *answer.SQLPools {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	out, err := sqlpools.SQLPools(context.Background(), v.Process, o)
	require.NoError(t, err)
	return out
}

func fact[T any](t testing.TB, d *testdump.Dump, name string) T {
	t.Helper()
	var v T
	require.Contains(t, d.Manifest.Facts, name)
	require.NoError(t, json.Unmarshal(d.Manifest.Facts[name], &v))
	return v
}

// TestPools compares the pools and the running commands with what the program printed.
func TestPools(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		client := fact[struct {
			Pools    []poolFact
			Commands []commandFact
		}](t, d, "sqlclient")
		npgsql := fact[poolFact](t, d, "npgsql")
		got := pools(t, d, sqlpools.Options{Secrets: true})
		assert.Len(t, got.Pools, len(client.Pools)+1)
		for _, f := range append(client.Pools, npgsql) {
			p := find(t, got, f.ConnectionString)
			if strings.Contains(f.ConnectionString, "Min Pool Size") && p.Open.Value == f.Open+1 {
				f.Open, f.Idle = f.Open+1, f.Idle+1 // the pool opens one itself; the program counts only its own
			}
			counts := fmt.Sprint(f.MaxPoolSize, f.Open, f.Busy, f.Idle, f.Waiters)
			assert.Equal(t, counts, fmt.Sprint(p.Max.Value, p.Open.Value, p.Busy.Value, p.Idle.Value, p.Waiting.Value), f.ConnectionString)
			assert.Equal(t, p.Busy.Value == p.Max.Value, p.Exhausted.Value, f.ConnectionString)
			for _, m := range []answer.Maybe[int64]{p.Max, p.Open, p.Busy, p.Idle, p.Waiting} {
				assert.NoError(t, m.Err())
			}
			assert.Len(t, p.Connections, int(f.Busy))
			assert.False(t, p.Blocked.Value)
		}
		for _, f := range client.Commands {
			c := running(t, got, f.Text)
			assert.Equal(t, f.Database, c.Database.S)
			assert.Equal(t, f.Timeout, *c.Command.Value.Timeout.Value, f.Text)
			assert.Equal(t, f.Type == "StoredProcedure", c.Command.Value.Procedure.Value, f.Text)
			assert.NotZero(t, c.Owner.Value)
			assert.Equal(t, !strings.HasPrefix(f.Text, "UPDATE"), c.Command.Value.Running, "%s: this one has failed, its method has completed", f.Text)
			if assert.NotNil(t, c.Opened) && c.Command.Value.Running && f.Timeout > 0 {
				since := c.Command.Value.Since
				require.NoError(t, since.Err(), f.Text)
				assert.WithinDuration(t, *c.Opened, since.Value, 10*time.Second, "%s: the program runs a command as soon as it has a connection", f.Text)
				assert.Equal(t, since.Value.Add(time.Duration(f.Timeout)*time.Second), c.Command.Value.Deadline.Value)
			}
			holder(t, c, strings.Contains(f.Text, "AuditLog"), "sql scalar", "WebDebuggee.SqlPools.Query")
		}
		assert.Equal(t, []answer.SQLParameter{{Name: answer.Text{S: "@sku"}, Value: "AB-12"}}, running(t, got, client.Commands[1].Text).Command.Value.Parameters)
		for _, f := range npgsql.Commands {
			c := running(t, got, f.Text)
			assert.Equal(t, f.Timeout, *c.Command.Value.Timeout.Value, f.Text)
			holder(t, c, strings.Contains(f.Text, "sync export"), "pg export", "WebDebuggee.NpgsqlPool.Read")
			assert.ErrorIs(t, c.Command.Value.Since.Err(), target.ErrUnsupported, "Npgsql keeps no time")
			assert.Equal(t, f.ProcessID, c.ProcessID.Value)
			assert.Equal(t, f.InTransaction, c.Transaction.Value, f.Text)
			var parameters = []string{}
			for _, p := range c.Command.Value.Parameters {
				parameters = append(parameters, p.Name.S+"="+p.Value)
			}
			assert.Equal(t, f.Parameters, parameters)
		}
		return len(got.Pools) + len(client.Commands) + len(npgsql.Commands)
	})
}

// holder checks the holder of a connection with a running command: the named thread or the async method.
func holder(t *testing.T, c *answer.SQLConnection, byThread bool, thread, method string) {
	t.Helper()
	switch {
	case !c.Command.Value.Running:
	case byThread:
		if assert.Len(t, c.Threads, 1) {
			assert.Equal(t, thread, c.Threads[0].Name)
			assert.Contains(t, c.Threads[0].Method.S, "WebDebuggee.")
		}
		assert.Nil(t, c.Stack)
	default:
		assert.Empty(t, c.Threads)
		if assert.NotNil(t, c.Stack) {
			assert.Equal(t, method, c.Stack.Frames[len(c.Stack.Frames)-1].Method.S)
		}
	}
}

func find(t testing.TB, all *answer.SQLPools, connection string) *answer.SQLPool {
	t.Helper()
	for i := range all.Pools {
		if s := all.Pools[i].Connection.S; s == connection || strings.HasPrefix(connection, "Host=") && s == strings.Replace(connection, "Password=not-a-real-password;", "", 1) {
			return &all.Pools[i]
		}
	}
	require.Fail(t, "no pool of "+connection)
	return nil
}

func running(t testing.TB, all *answer.SQLPools, text string) *answer.SQLConnection {
	t.Helper()
	for _, p := range all.Pools {
		for i := range p.Connections {
			if c := &p.Connections[i]; c.Command.Value != nil && c.Command.Value.Text.S == text {
				return c
			}
		}
	}
	require.Fail(t, "nothing runs "+text)
	return nil
}

// TestSecrets checks that no password of SqlClient appears unless it is requested. Npgsql does not keep it.
func TestSecrets(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		text, err := json.Marshal(pools(t, d, sqlpools.Options{}).Pools)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "not-a-real-password")
		assert.Equal(t, 2, strings.Count(string(text), "Password=***;"))
		return 1
	})
	for s, want := range map[string]string{
		"Server=a;Password=x;Timeout=3":      "Server=a;Password=***;Timeout=3",
		`Server=a; PWD = "x;y;z" ;Timeout=3`: "Server=a; PWD =***;Timeout=3",
		"SSL Password='a\"b;';Host=h":        "SSL Password=***;Host=h",
		"Password=x":                         "Password=***",
		"Password=;A=b":                      "Password=;A=b",
		"Access Token=x;Persist=1":           "Access Token=***;Persist=1",
		"":                                   "",
		"no pairs":                           "no pairs",
	} {
		assert.Equal(t, want, sqlpools.Masked(s))
	}
}

// TestNoPools reads a process without a driver.
func TestNoPools(t *testing.T) {
	assert.Empty(t, pools(t, testdump.Open(t, "net10-zoo"), sqlpools.Options{}).Pools)
}

// TestUnread checks that unreadable parts of a busy connection are reported as missing, not as empty.
func TestUnread(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10")
	var found *answer.SQLConnection
	for _, p := range pools(t, d, sqlpools.Options{}).Pools {
		for i := range p.Connections {
			if c := &p.Connections[i]; c.Command.Value != nil && strings.Contains(c.Command.Value.Text.S, "CustomerId = 42") {
				found = c
			}
		}
	}
	require.NotNil(t, found)
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	connection, err := r.Object(found.Address)
	require.NoError(t, err)
	at := func(field string) target.Addr {
		f := connection.Field(field)
		require.NoError(t, f.Err(), field)
		return f.Location()
	}
	with := func(damage ...testdump.Damage) *answer.SQLConnection {
		o := d.Options()
		damaged, _ := testdump.OverlaidFile(t, d.Plain(), o, damage...)
		for _, p := range read(t, damaged, sqlpools.Options{}).Pools {
			for i := range p.Connections {
				if p.Connections[i].Address == found.Address {
					return &p.Connections[i]
				}
			}
		}
		require.Fail(t, "the connection is gone")
		return nil
	}
	const nowhere = 0x7e0000001000
	c := with(testdump.Words(at("_owningObject"), nowhere))
	assert.Error(t, c.Owner.Err(), "somebody may have it")
	assert.NotNil(t, c.Command.Value)
	c = with(testdump.Words(at("_parser"), nowhere))
	assert.Error(t, c.Command.Err(), "a command may run")
	assert.Error(t, c.Transaction.Err())
	assert.NoError(t, c.Owner.Err())
}

// TestMissingParts repeats the query, each time without one of the pieces of memory that the answer was read from.
func TestMissingParts(t *testing.T) {
	ask := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(sqlpools.SQLPools(t.Context(), v.Process, sqlpools.Options{Brief: true}))
	}
	d := testdump.OpenWeb(t, "web-net10")
	d.Sweep(t, 200, false, ask)
	d.Sweep(t, 40, true, ask)
	testdump.SweepLibraries(t, 400, false, ask)
}

// TestCanceled checks that a canceled context ends each query with its error.
func TestCanceled(t *testing.T) {
	v, err := testdump.OpenWeb(t, "web-net10").View("")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() error{
		"pools": func() error { _, err := sqlpools.SQLPools(ctx, v.Process, sqlpools.Options{}); return err },
	} {
		assert.ErrorIs(t, ask(), context.Canceled, name)
	}
}

// TestMaskedSQL masks the literals of commands that are secrets.
func TestMaskedSQL(t *testing.T) {
	for s, want := range map[string]string{
		"SELECT 1": "SELECT 1",
		"ALTER LOGIN app WITH PASSWORD = N'ab''c', CHECK_POLICY = OFF": "ALTER LOGIN app WITH PASSWORD = N'***', CHECK_POLICY = OFF",
		"CREATE USER app IDENTIFIED BY 'x'":                            "CREATE USER app IDENTIFIED BY '***'",
		"SELECT * FROM t WHERE name = 'O''Brien' AND api_key='k1'":     "SELECT * FROM t WHERE name = 'O''Brien' AND api_key='***'",
		"SELECT 'Server=a;Password=x', 'open":                          "SELECT '***', 'open",
		"ORDER BY 'a'":                                                 "ORDER BY 'a'",
		"PASSWORD ''":                                                  "PASSWORD ''",
	} {
		assert.Equal(t, want, sqlpools.MaskedSQL(s))
	}
}

// TestWaiters names the callers that wait for a connection of the exhausted pool: an OpenAsync with SqlClient's
// deadline, and a thread.
func TestWaiters(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		found := 0
		for _, p := range pools(t, d, sqlpools.Options{}).Pools {
			if !strings.Contains(p.Connection.S, "Initial Catalog=shop") {
				assert.Empty(t, p.Opening)
				assert.False(t, p.Exhausted.Value)
				continue
			}
			require.Len(t, p.Opening, int(p.Waiting.Value))
			assert.Equal(t, answer.Known(true), p.Exhausted)
			for _, o := range p.Opening {
				found++
				assert.Equal(t, answer.SQLWaits, o.Does)
				if o.Stack == nil {
					require.Len(t, o.Threads, 1)
					assert.Equal(t, "sql open waiter", o.Threads[0].Name)
					assert.ErrorIs(t, o.Since.Err(), target.ErrUnsupported)
					continue
				}
				assert.Empty(t, o.Threads)
				assert.Equal(t, answer.WaitConnection, o.Stack.Remote)
				assert.Equal(t, "WebDebuggee.SqlPools.OpenLater", o.Stack.Frames[len(o.Stack.Frames)-1].Method.S)
				require.NoError(t, o.Since.Err())
				assert.WithinDuration(t, *p.Connections[0].Opened, o.Since.Value, 10*time.Second)
				assert.Equal(t, time.Hour, o.Deadline.Value.Sub(o.Since.Value), "Connect Timeout=3600")
			}
		}
		assert.Equal(t, 2, found)
		return found
	})
}
