// Package mcpserver answers questions about dumps over the Model Context Protocol. It offers an Asker's commands as tools: it bounds
// their answers, and escapes and marks what comes out of a dump, since it is data. Secrets are the Asker's to mask.
package mcpserver
