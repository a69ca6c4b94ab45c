// Package mcpserver answers questions about dumps over the Model Context Protocol. It offers an Asker's commands as tools: it bounds
// their answers, masks secrets in them, and marks what comes out of a dump as data.
package mcpserver
