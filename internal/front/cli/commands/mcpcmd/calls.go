package mcpcmd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/mcpserver"
)

// Next implements mcpserver.Asker. Commands without a tool of their own become calls of the tool "command".
func (a *asker) Next(line string) (mcpserver.Call, bool) {
	words := strings.Fields(line)
	if len(words) == 0 || strings.ContainsAny(line, "\"'|") {
		return mcpserver.Call{}, false
	}
	i := slices.IndexFunc(a.c.Commands(), func(c *cli.Command) bool { return c.Name == words[0] || slices.Contains(c.Aliases, words[0]) })
	if i < 0 {
		return mcpserver.Call{}, false
	}
	cmd := a.c.Commands()[i]
	c := mcpserver.Call{Tool: cmd.Name, Arguments: map[string]any{}, Command: line}
	switch {
	case grouping[cmd.Name] != "" && len(words) == 1:
		c.Tool = grouping[cmd.Name]
		return c, true
	case cmd.Name == "clrstack" && slices.Equal(words[1:], []string{"-all"}):
		c.Tool = toolStacks
		return c, true
	case slices.Contains(offered, cmd.Name) && grouping[cmd.Name] == "" && argumentsOf(cmd, words[1:], c.Arguments):
		return c, true
	}
	return mcpserver.Call{Tool: anyCommand, Arguments: map[string]any{"command": cmd.Name, "arguments": words[1:]}, Command: line}, true
}

// grouping maps commands to the tools that agents call in their place, if they have no options.
var grouping = map[string]string{"clrthreads": toolThreads, "threads": toolThreads, "parallelstacks": toolStacks, "stacks": toolStacks, "types": toolTypes}

// argumentsOf adds the options and arguments of a command line. It reports whether a tool has all of them.
func argumentsOf(cmd *cli.Command, words []string, out map[string]any) bool {
	options, args := cmd.Declares()
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		name, isOption := strings.CutPrefix(word, "-")
		if !isOption {
			if len(args) == 0 || args[0].Many || args[0].Kind == cli.File {
				return false
			}
			out[args[0].Name] = word
			args = args[1:]
			continue
		}
		name, value, hasValue := strings.Cut(name, "=")
		at := slices.IndexFunc(options, func(o cli.Option) bool { return o.Name == name || slices.Contains(o.Aliases, name) })
		if at < 0 || !lists(cmd.Name, options[at].Name) || options[at].Many || options[at].Kind == cli.File || options[at].Reveals {
			return false
		}
		o := &options[at]
		if o.Kind == cli.Bool {
			out[o.Name] = true
			continue
		}
		if !hasValue {
			if len(words) == 0 {
				return false
			}
			value, words = words[0], words[1:]
		}
		out[o.Name] = value
		if n, err := strconv.Atoi(value); err == nil && o.Kind == cli.Int {
			out[o.Name] = n
		}
	}
	return true
}
