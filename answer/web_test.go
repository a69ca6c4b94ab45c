package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestLibraryMethod checks that a native method of the class libraries is a library method.
func TestLibraryMethod(t *testing.T) {
	for _, name := range []string{"Interop+Winsock.recv", "ILStubClass.IL_STUB_PInvoke", "System.Net.Sockets.Socket.Receive", "Npgsql.NpgsqlCommand.ExecuteReader"} {
		assert.True(t, answer.LibraryMethod(name), name)
	}
	for _, name := range []string{"Shop.Orders.Load", "InteropServices.Native.Read", "Systems.Program.Main"} {
		assert.False(t, answer.LibraryMethod(name), name)
	}
}
