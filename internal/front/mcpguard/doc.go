// Package mcpguard lets untrusted clients talk to a server of the Model Context Protocol. It stands in front of the
// protocol's SDK (github.com/modelcontextprotocol/go-sdk/mcp) and bounds what clients send: bytes and depth of a
// message, messages of a batch, requests that run, sessions. A request stops at once when its client cancels it or goes
// away.
//
// It does not read tools, resources or prompts: package mcpserver offers them, and the SDK answers for them. Start with
// Serve, for a pair of streams, and Handler, for HTTP.
package mcpguard
