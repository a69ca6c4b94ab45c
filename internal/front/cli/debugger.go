package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// This file translates commands of WinDbg, LLDB, gdb and dotnet-dump with an obvious equivalent: in an incident,
// people type the commands they know.

// splitCommands splits a line at semicolons outside of quotes, and outside of the braces of .foreach and the like. A
// line with an open quote is not split; the parser reports it.
func splitCommands(text string) []string {
	var out []string
	from, depth, quote := 0, 0, byte(0)
	block := isBlock(text)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case block && (c == '{' || c == '('):
			depth++
		case block && (c == '}' || c == ')'):
			depth--
		case c == ';' && depth <= 0:
			out = append(out, text[from:i])
			from, depth, block = i+1, 0, isBlock(text[i+1:])
		}
	}
	if quote != 0 {
		return []string{text}
	}
	return append(out, text[from:])
}

// isComment reports whether a line is empty or a comment.
func isComment(text string) bool {
	return text == "" || text[0] == '#' || text[0] == '*' || strings.HasPrefix(text, "$$") && !isScript(text)
}

// isScript reports whether a line is WinDbg's command that runs a file of commands: $<FILE, $$>< FILE.
func isScript(text string) bool {
	text, found := strings.CutPrefix(text, "$")
	text = strings.TrimPrefix(text, "$")
	return found && (strings.HasPrefix(text, "<") || strings.HasPrefix(text, ">"))
}

// systems matches WinDbg's commands for processes (|) and systems (||). A dump has one process and one system.
var systems = newPattern("|", `^\|(\|?)[.*#\d]*\s*(s?)$`)

// ofSystem translates them.
func ofSystem(text string) string {
	m := systems.submatches(text)
	switch {
	case m == nil:
		return text
	case m[2] != "":
		return "'|s'"
	case m[1] != "":
		return "doctor"
	}
	return "process"
}

// threadPrefix matches WinDbg's thread prefix (~*, ~., ~#, ~3, ~~[187a]) and the command after it.
var threadPrefix = lazyRegexp(`^~\s*(\*|\.|#|\d+|~\[(?:0x)?[0-9a-fA-F]+\])?\s*(.*)$`)

// A threadChoice selects the threads to run a line for.
type threadChoice struct {
	all bool
	one string // as an argument of setthread; empty for the current thread
}

// cutThread removes the thread prefix from a line. It returns nil if the line has no prefix.
func cutThread(text string) (*threadChoice, string) {
	if !strings.HasPrefix(text, "~") {
		return nil, text
	}
	m := threadPrefix().FindStringSubmatch(text)
	if m == nil {
		return nil, text
	}
	which, rest := m[1], m[2]
	choice := &threadChoice{all: which == "*"}
	switch {
	case strings.HasPrefix(which, "~"):
		choice.one = "0x" + strings.ToLower(strings.TrimPrefix(strings.Trim(which, "~[]"), "0x"))
	case which != "*" && which != "." && which != "#":
		choice.one = which
	}
	switch {
	case which == "" && rest != "s" && !strings.HasPrefix(rest, "e ") && !strings.HasPrefix(rest, "e!") || rest == "" && which == "*":
		return nil, "threads " + rest
	case rest == "":
		return choice, "threads -current"
	case rest == "s" && choice.one != "":
		return nil, "setthread " + choice.one
	case rest == "s":
		return nil, "threads -current"
	case rest == "f" || rest == "u" || rest == "n" || rest == "m":
		return nil, "~" + rest // freezes or resumes the thread
	case strings.HasPrefix(rest, "e ") || strings.HasPrefix(rest, "e!"):
		rest = strings.TrimSpace(rest[1:])
	}
	return choice, rest
}

// stackArguments translates the arguments of WinDbg's k: a number of frames, or all threads.
func stackArguments(words []word) []word {
	if len(words) < 3 || words[0].text != "clrstack" || words[1].text != "-f" {
		return words
	}
	var out []word
	for i, w := range words {
		if i > 1 && strings.EqualFold(w.text, "L") {
			continue // k L 5
		}
		if count := strings.TrimLeft(w.text, "Ll"); i > 1 && isDecimal(count) {
			w.text = count // kb L5
		}
		switch _, err := strconv.Atoi(w.text); {
		case err == nil && words[i-1].text != "-c":
			out = append(out, word{text: "-c"})
		case strings.EqualFold(w.text, "all"):
			w.text = "-all"
		}
		out = append(out, w)
	}
	return out
}

// IsRegister reports whether text names a register and is not a hexadecimal number.
func IsRegister(text string) bool { return registers().MatchString(text) }

// examineForm matches gdb's x with a count, a format and a size, as in x/8gx.
var examineForm = lazyRegexp(`^x/(\d*)([a-z]*)$`)

// examine translates gdb's x/8gx ADDRESS. It returns nil for other commands.
func examine(words []word) []word {
	name := strings.ToLower(words[0].text)
	if len(words) < 2 || !strings.HasPrefix(name, "x/") {
		return nil
	}
	m := examineForm().FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	command := "dd"
	switch {
	case strings.Contains(m[2], "s"):
		return append([]word{{text: "da"}}, words[1:]...)
	case strings.Contains(m[2], "i"):
		return append([]word{{text: "clru"}}, words[1:]...)
	case strings.ContainsAny(m[2], "ga"):
		command = "dq"
	case strings.Contains(m[2], "h"):
		command = "dw"
	case strings.Contains(m[2], "b"):
		command = "db"
	}
	count := m[1]
	if count == "" {
		count = "1"
	}
	return append([]word{{text: command}, {text: "-count"}, {text: count}}, words[1:]...)
}

// runForThreads runs a command for each of the threads in turn, then restores the current thread.
func (a *app) runForThreads(ctx context.Context, choice *threadChoice, run func() error) (first error) {
	id, had := a.session.Thread()
	defer func() { a.session.thread, a.session.hasThread = id, had }()
	ids, err := a.chosenThreads(ctx, choice)
	if err != nil {
		a.fail("", err)
		return err
	}
	for _, id := range ids {
		if id != nil {
			a.session.SetThread(*id)
		}
		err := run()
		if first == nil {
			first = err
		}
		if err == errExit || ExitCode(err) == ExitInterrupted {
			return err
		}
	}
	return first
}

// chosenThreads returns the OS ids of the chosen threads; nil stands for the current one.
func (a *app) chosenThreads(ctx context.Context, choice *threadChoice) ([]*uint32, error) {
	if !choice.all && choice.one == "" {
		return []*uint32{nil}, nil
	}
	if err := a.configure(&Command{}, nil); err != nil {
		return nil, err
	}
	d, err := a.session.Open(ctx, nil)
	if err != nil {
		return nil, err
	}
	if a.env.Threads == nil {
		return nil, Usagef("threads can't be chosen with ~ here")
	}
	list, err := a.env.Threads(d, a.session.Runtime())
	if err != nil {
		return nil, err
	}
	var out []*uint32
	for i := range list {
		if choice.all || choice.one == fmt.Sprint(i) || choice.one == fmt.Sprintf("%#x", list[i]) {
			out = append(out, &list[i])
		}
	}
	if len(out) == 0 {
		return nil, &UsageError{Text: fmt.Sprintf("there is no thread ~%s", choice.one), Hint: "threads lists them"}
	}
	return out, nil
}
