package dap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

// FuzzRequests checks that no request panics, and that the next request is still answered unless the session has
// ended.
func FuzzRequests(f *testing.F) {
	for _, text := range []string{
		"", "{}", "[1,2,3]", "\xff\xfe\x00", `{"seq":5,"type":"event","event":"stopped"}`,
		request("initialize", `{"adapterID":"x"}`), request("launch", `{"dump":5}`), request("threads", `null`),
		request("stackTrace", `{"threadId":1,"startFrame":-1,"levels":3}`), request("stackTrace", `{"threadId":"one"}`),
		request("scopes", `{"frameId":1}`), request("variables", `{"variablesReference":1,"filter":"indexed","start":1,"count":5}`),
		request("evaluate", `{"expression":"1 + 2","context":"watch"}`), request("evaluate", `{"expression":"pe","context":"repl","frameId":1}`),
		request("completions", `{"text":"dumphe","column":7}`), request("readMemory", `{"memoryReference":"0x10","offset":-1,"count":16}`),
		request("disassemble", `{"memoryReference":"0x10","instructionOffset":-5,"instructionCount":10}`), request("exceptionInfo", `{"threadId":1}`),
		request("modules", `{"startModule":-1,"moduleCount":2}`), request("source", `{"sourceReference":5}`), request("loadedSources", `{}`),
		request("setBreakpoints", `{"source":{"path":"/x"},"breakpoints":[{"line":3}]}`), request("cancel", `{"requestId":7,"progressId":"request-7"}`),
		request("next", `{}`), request("disconnect", `{}`),
	} {
		f.Add([]byte(text))
	}
	path := testdump.Open(f, "net10-crash-nested").Plain()
	f.Fuzz(func(t *testing.T, content []byte) {
		c, _ := open(t, path, nil)
		next := c.seq + 1
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			if dap.WriteBaseMessage(c.in, content) == nil {
				_ = dap.WriteBaseMessage(c.in, fmt.Appendf(nil, `{"seq":%d,"type":"request","command":"threads"}`, next)) // fails if the session has ended
			}
		}()
		for {
			m, err := dap.ReadProtocolMessage(c.out)
			if err != nil {
				d, _ := dap.DecodeProtocolMessage(content)
				_, bye := d.(*dap.DisconnectRequest)
				require.True(t, bye, "%v", err)
				break
			}
			r, ok := m.(dap.ResponseMessage)
			if !ok {
				continue
			}
			if !strings.Contains(string(content), "bug") {
				require.NotContains(t, r.GetResponse().Message, "a bug in sosgo")
			}
			if r.GetResponse().RequestSeq == next {
				break
			}
		}
		c.in.Close()
		<-sent
	})
}

// request returns the content of a request.
func request(command, arguments string) string {
	return fmt.Sprintf(`{"seq":-3,"type":"request","command":%q,"arguments":%s}`, command, arguments)
}
