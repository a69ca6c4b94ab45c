package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call answers a call of a tool.
func (s *Server) Call(ctx context.Context, tool string, arguments json.RawMessage) *mcp.CallToolResult {
	for i := range s.options.Tools {
		if t := &s.options.Tools[i]; t.Name == tool {
			return s.call(ctx, t, arguments)
		}
	}
	return nil
}
