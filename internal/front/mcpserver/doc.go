// Package mcpserver answers questions about dumps over the Model Context Protocol. It offers an Asker's commands as
// tools. It limits the size of answers, and escapes and marks data from a dump. It does not mask secrets; the Asker
// does. Start with New and Asker.
package mcpserver
