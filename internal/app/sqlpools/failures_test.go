package sqlpools_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestFailures links the program's failed commands with their exceptions. The SqlClient exceptions name connections
// with one command, two commands, or an earlier id; one belongs to a batch, and one has lost its connection. The Npgsql
// exception refers to its command.
func TestFailures(t *testing.T) {
	d, _ := testdump.Libraries(t)
	out := read(t, d, sqlpools.Options{})
	type failure struct {
		code, message, command string
		strength               answer.Strength
		count                  int
		linked                 bool
	}
	var got []failure
	for _, f := range out.Failures {
		g := failure{code: f.Code, message: f.Message.S, strength: f.Strength, count: f.Count, linked: f.Connection != 0}
		if f.Command != nil {
			g.command = f.Command.Text.S
			assert.False(t, f.Command.Running)
			assert.NotZero(t, f.Command.Address)
			assert.ErrorIs(t, f.Command.Deadline.Err(), target.ErrUnsupported, "a failed command has no deadline")
			assert.ErrorIs(t, f.Command.Since.Err(), target.ErrUnsupported)
		}
		assert.Equal(t, g.linked, f.Pool != 0)
		got = append(got, g)
	}
	assert.Equal(t, []failure{
		{"1205", "Transaction (Process ID 52) was deadlocked on lock resources", "UPDATE dbo.Stock SET Quantity = Quantity - 1", answer.StrengthLikely, 3, true},
		{"-2", "Execution Timeout Expired", "", "", 1, true},
		{"547", "The INSERT statement conflicted", "INSERT INTO dbo.Lines VALUES (1)", answer.StrengthRecorded, 1, true},
		{"10054", "A transport-level error has occurred", "", "", 1, false},
		{"15118", "Password validation failed", "ALTER LOGIN app WITH PASSWORD = '***'", answer.StrengthLikely, 1, true},
		{"18456", "Login failed for user 'app'", "", "", 1, false},
		{"23505", "duplicate key value violates unique constraint", "INSERT INTO orders VALUES ($1)", answer.StrengthRecorded, 1, false},
		{"", "Exception while reading from stream", "", "", 1, false},
	}, got)
	require.NotEmpty(t, out.Failures)
	assert.Equal(t, "Fakes.Program.Fail(Int32, Int32, String, String)", out.Failures[0].Method.S)
	assert.Equal(t, out.Pools[0].Address, out.Failures[0].Pool)
	secret := read(t, d, sqlpools.Options{Secrets: true})
	assert.Equal(t, "ALTER LOGIN app WITH PASSWORD = 'not-a-real-password'", secret.Failures[4].Command.Text.S)
}

// TestFailuresUnread checks that a command is not named if an object on the way to it is unreadable or the command is
// running.
func TestFailuresUnread(t *testing.T) {
	d, over := testdump.Libraries(t)
	before := read(t, d, sqlpools.Options{})
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	at := func(object target.Addr, field string) target.Addr {
		o, err := r.Object(object)
		require.NoError(t, err)
		f := o.Field(field)
		require.NoError(t, f.Err(), field)
		return f.Location()
	}
	first := &before.Failures[0]
	over.Set(testdump.Words(at(first.Connection, "_owningObject"), 0x7e0000001000))
	after := read(t, d, sqlpools.Options{})
	assert.Nil(t, after.Failures[0].Command)
	assert.Equal(t, first.Connection, after.Failures[0].Connection)
	assert.NotEmpty(t, after.Noted())
	over.Set(testdump.Words(at(first.Command.Address, "_stateObj"), uint64(first.Object)))
	assert.Nil(t, read(t, d, sqlpools.Options{}).Failures[0].Command, "it runs, and so it is another one that failed")
	over.Set(testdump.Words(at(before.Failures[6].Object, "_message"), 0x7e0000001000))
	assert.Error(t, read(t, d, sqlpools.Options{}).Failures[6].Message.Err)
}
