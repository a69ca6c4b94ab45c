package dap_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"

	"github.com/google/go-dap"

	adapter "github.com/sosgo/sosgo/internal/front/dap"
)

// A noHost opens nothing.
type noHost struct{}

func (noHost) Open(context.Context, adapter.Open, func(done, total uint64)) (*adapter.Opened, error) {
	return nil, io.ErrUnexpectedEOF
}

// An editor asks over a connection, and each answer comes as a message of the protocol.
func ExampleServe() {
	editor, server := net.Pipe()
	go func() { _ = adapter.Serve(context.Background(), server, server, noHost{}, adapter.Options{}) }()
	answers := bufio.NewReader(editor)
	for _, content := range []string{
		`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"sosgo"}}`,
		`{"seq":2,"type":"request","command":"launch","arguments":{"dump":"core.1"}}`,
		`{"seq":3,"type":"request","command":"disconnect"}`,
	} {
		if err := dap.WriteBaseMessage(editor, []byte(content)); err != nil {
			fmt.Println(err)
			return
		}
		m, err := dap.ReadProtocolMessage(answers)
		if err != nil {
			fmt.Println(err)
			return
		}
		r := m.(dap.ResponseMessage).GetResponse()
		fmt.Printf("%s %t %q\n", r.Command, r.Success, r.Message)
	}
	// Output:
	// initialize true ""
	// launch false "unexpected EOF"
	// disconnect true ""
}
