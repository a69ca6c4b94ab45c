package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call answers a call of a tool.
func (s *Server) Call(ctx context.Context, tool string, arguments json.RawMessage) *mcp.CallToolResult {
	for i := range s.options.Tools {
		if t := &s.options.Tools[i]; t.Name == tool {
			return s.call(ctx, t, arguments, &progress{})
		}
	}
	return nil
}

// SetProgressTick sets the interval of progress reports for later calls. undo restores it.
func SetProgressTick(d time.Duration) (undo func()) {
	old := progressTick
	progressTick = d
	return func() { progressTick = old }
}
