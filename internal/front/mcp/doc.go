// Package mcp is the server side of the Model Context Protocol: JSON-RPC 2.0 over lines (Server.Serve) and over HTTP (Handler), sessions,
// and the lists of tools, resources and prompts. It follows https://modelcontextprotocol.io/specification in the versions of Versions.
//
// A Server's lists never change, so it promises no notifications about them. It offers no logging and asks clients for nothing.
// Everything that a client sends is bounded: bytes and depth of a message, messages of a batch, requests that run, sessions.
package mcp
