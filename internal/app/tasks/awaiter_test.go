package tasks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
)

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
