package tasks

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
)

// TestAwaitSites checks that each await has its own field, in the order of Roslyn's instructions and in that of Mono's compiler, which never
// clears a field: a used awaiter would be taken for the one in use.
func TestAwaitSites(t *testing.T) {
	names := []string{"Task.GetAwaiter", "Machine.<>1__state", "Machine.<>u__1", "Machine.<>u__2", "Machine.$PC", "Machine.$awaiter0", "Machine.$awaiter1", "Builder.AwaitUnsafeOnCompleted"}
	op := func(opcode byte, name string) []byte {
		return []byte{opcode, byte(slices.Index(names, name)), 0, 0, 0x0a}
	}
	roslyn := func(state byte, field string) []byte {
		return slices.Concat(op(opCallvirt, "Task.GetAwaiter"), []byte{opLdc0 + state}, op(opStfld, "Machine.<>1__state"), op(opStfld, field), op(opCall, "Builder.AwaitUnsafeOnCompleted"))
	}
	mono := func(state byte, field string) []byte {
		return slices.Concat(op(opCallvirt, "Task.GetAwaiter"), op(opStfld, field), op(opLdflda, field), []byte{opLdc0 + state + 1}, op(opStfld, "Machine.$PC"),
			op(opLdflda, field), op(opCall, "Builder.AwaitUnsafeOnCompleted"), op(opLdflda, field))
	}
	for _, c := range []struct {
		il   []byte
		want []string
	}{
		{slices.Concat(roslyn(0, "Machine.<>u__1"), roslyn(1, "Machine.<>u__2"), roslyn(2, "Machine.<>u__1")), []string{"<>u__1", "<>u__2", "<>u__1"}},
		{slices.Concat(mono(0, "Machine.$awaiter0"), mono(1, "Machine.$awaiter1"), mono(2, "Machine.$awaiter0")), []string{"$awaiter0", "$awaiter1", "$awaiter0"}},
	} {
		sites, err := awaitSites(func(m metadata.Token) string { return names[m.Row()] }, c.il)
		require.NoError(t, err)
		assert.Len(t, sites, len(c.want))
		for i, field := range c.want {
			assert.Equal(t, field, sites[int32(i)].field, "await %d", i)
		}
	}
}

// TestAwaiterAt checks that without code no awaiter is chosen if another one, which could not be read, may be in use.
func TestAwaiterAt(t *testing.T) {
	first, second := &objects.Field{Name: "<>u__1"}, &objects.Field{Name: "<>u__2"}
	one, both := []*objects.Field{first}, []*objects.Field{second, first}
	for _, c := range []struct {
		fields machineFields
		state  int32
		want   *objects.Field
	}{
		{machineFields{awaiters: one}, 1, first},
		{machineFields{awaiters: one, partial: true}, 1, nil},
		{machineFields{awaiters: both}, 0, first},
		{machineFields{awaiters: both}, 1, nil},
		{machineFields{awaiters: []*objects.Field{second, second}}, 0, nil},
	} {
		assert.Same(t, c.want, c.fields.awaiterAt(c.state))
	}
}

// TestRemoteTypes checks that a task with a connection of HttpClient is a wait for one, and the task of its answer is not.
func TestRemoteTypes(t *testing.T) {
	for name, want := range map[string]answer.WaitKind{
		"System.Threading.Tasks.Task<System.Net.Http.HttpConnection>":            answer.WaitConnection,
		"System.Threading.Tasks.Task<System.Net.Http.Http2Connection>":           answer.WaitConnection,
		"System.Threading.Tasks.Task<Microsoft.Data.SqlClient.SqlDataReader>":    answer.WaitServer,
		"System.Threading.Tasks.Task<System.Net.Http.HttpResponseMessage>":       "",
		"System.Collections.Generic.Queue<System.Net.Http.HttpConnection>":       "",
		"System.Threading.Tasks.Task<System.Net.Http.HttpConnectionPoolManager>": "",
	} {
		assert.Equal(t, want, remoteIn(remoteTypes, name, strings.Contains), name)
	}
}
