package cli

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What is typed in WinDbg, LLDB and dotnet-dump is understood where its meaning is
// plain: people type in an incident what their fingers know.

// splitCommands cuts a line into the commands that semicolons separate. Quotes keep
// one; a line with an open quote is not cut, and the parser says so.
func splitCommands(text string) []string {
	var out []string
	from, quote := 0, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ';':
			out = append(out, text[from:i])
			from = i + 1
		}
	}
	if quote != 0 {
		return []string{text}
	}
	return append(out, text[from:])
}

// isComment reports whether a line says nothing to sosgo.
func isComment(text string) bool {
	return text == "" || text[0] == '#' || text[0] == '*' || strings.HasPrefix(text, "$$")
}

// threadPrefix is ~ with a thread as WinDbg has it: ~*, ~., ~#, ~3, ~~[187a]; and what
// is to be done there.
var threadPrefix = regexp.MustCompile(`^~(\*|\.|#|\d+|~\[(?:0x)?[0-9a-fA-F]+\])?\s*(.*)$`)

// A threadChoice is the threads that a line is for.
type threadChoice struct {
	all bool
	one string // as setthread takes it; empty for the current one
}

// cutThread takes the threads off a line, which is then a command for each of them.
// Without any it returns nil.
func cutThread(text string) (*threadChoice, string) {
	m := threadPrefix.FindStringSubmatch(text)
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
	case rest == "" || which == "":
		return nil, "threads " + rest
	case rest == "s" && choice.one != "":
		return nil, "setthread " + choice.one
	case strings.HasPrefix(rest, "e "):
		rest = strings.TrimSpace(rest[1:])
	}
	return choice, rest
}

// habit is what a word of another debugger is in sosgo.
var habits = map[string][]string{
	"k": stackHabit, "kb": stackHabit, "kc": stackHabit, "kn": stackHabit, "kp": stackHabit, "kv": stackHabit, "bt": stackHabit, "where": stackHabit,
	".exit": {"exit"}, ".quit": {"exit"}, "qq": {"exit"}, "qd": {"exit"},
	"soshelp": {"help"}, ".help": {"help"}, ".hh": {"help"}, ".ecxr": {"registers"}, ".lastevent": {"crashinfo"}, "!analyze": {"crashinfo"},
	"maddress": {"modules"},
}

var stackHabit = []string{"clrstack", "-f"}

// fromDebugger puts the words of another debugger in sosgo's, unless sosgo has a
// command of that name.
func (t *table) fromDebugger(words []word) []word {
	if len(words) == 0 || words[0].literal {
		return words
	}
	first := strings.ToLower(words[0].text)
	if name := strings.TrimPrefix(first, "!"); (name == "sos" || name == "ext") && len(words) > 1 {
		return t.fromDebugger(words[1:])
	}
	for _, module := range []string{"sos.", "ext."} {
		if name, ok := strings.CutPrefix(strings.TrimPrefix(first, "!"), module); ok && name != "" {
			words = append(literalWords([]string{name}), words[1:]...)
			return t.fromDebugger(words)
		}
	}
	replaced, ok := habits[first]
	if !ok || t.byName[first] != nil {
		return words
	}
	if first == "!analyze" { // its options are about symbols
		return literalWords(replaced)
	}
	out := literalWords(replaced)
	for _, w := range words[1:] {
		switch _, err := strconv.Atoi(w.text); {
		case replaced[0] != "clrstack":
		case err == nil:
			out = append(out, word{text: "-c"})
		case strings.EqualFold(w.text, "all"):
			w.text = "-all"
		}
		out = append(out, w)
	}
	return out
}

// runForThreads runs a command for each of the threads in turn; the current thread
// is afterwards the one that it was.
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

// chosenThreads are the OS ids of the threads that were chosen; nil is the current
// one.
func (a *app) chosenThreads(ctx context.Context, choice *threadChoice) ([]*uint32, error) {
	if !choice.all && choice.one == "" {
		return []*uint32{nil}, nil
	}
	if err := a.configure(&Command{}, &parser{}); err != nil {
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
