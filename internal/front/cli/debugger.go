package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// This file translates commands of WinDbg, LLDB, gdb and dotnet-dump with an obvious equivalent: in an incident,
// people type the commands they know.

// splitCommands splits a line at semicolons outside of quotes. A line with an open quote is not split; the parser
// reports it.
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

// isComment reports whether a line is empty or a comment.
func isComment(text string) bool {
	return text == "" || text[0] == '#' || text[0] == '*' || strings.HasPrefix(text, "$$")
}

// threadPrefix matches WinDbg's thread prefix (~*, ~., ~#, ~3, ~~[187a]) and the command after it.
var threadPrefix = lazyRegexp(`^~(\*|\.|#|\d+|~\[(?:0x)?[0-9a-fA-F]+\])?\s*(.*)$`)

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
	case rest == "" || which == "":
		return nil, "threads " + rest
	case rest == "s" && choice.one != "":
		return nil, "setthread " + choice.one
	case strings.HasPrefix(rest, "e "):
		rest = strings.TrimSpace(rest[1:])
	}
	return choice, rest
}

// A spelling maps a command of another debugger to sosgo's. In typed, NAME stands for one word and NAME... for all
// remaining words, possibly none; sosgo repeats them.
type spelling struct{ typed, sosgo string }

// spellings are tried in order; the first match is used.
var spellings = []spelling{
	// WinDbg.
	{"k ARGS...", "clrstack -f ARGS..."}, {"kb ARGS...", "clrstack -f ARGS..."}, {"kc ARGS...", "clrstack -f ARGS..."}, {"kn ARGS...", "clrstack -f ARGS..."},
	{"kp ARGS...", "clrstack -f ARGS..."}, {"kv ARGS...", "clrstack -f ARGS..."}, {"kl ARGS...", "clrstack -f ARGS..."},
	{"!uniqstack REST...", "parallelstacks"}, {"uniqstack REST...", "parallelstacks"},
	{".exit", "exit"}, {".quit", "exit"}, {"qq", "exit"}, {"qd", "exit"}, {"q", "exit"}, {"quit", "exit"},
	{"soshelp ARGS...", "help ARGS..."}, {".help ARGS...", "help ARGS..."}, {".hh ARGS...", "help ARGS..."},
	{".ecxr", "registers"}, {".lastevent", "crashinfo"}, {"!analyze REST...", "crashinfo"}, {".exr REST...", "crashinfo"}, {"!gle REST...", "crashinfo"},
	{"!threads ARGS...", "clrthreads ARGS..."}, {".threads ARGS...", "threads ARGS..."}, {".thread", "threads"}, {".thread ID", "setthread ID"},
	{".frame REST...", "clrstack -a"}, {"dv REST...", "clrstack -a"},
	{"lm m NAME", "modules -name NAME"}, {"lm v m NAME", "modules -v -name NAME"}, {"lmvm NAME", "modules -v -name NAME"}, {"lmv", "modules -v"},
	{"lmf", "modules"}, {"lmm NAME", "modules -name NAME"}, {"maddress REST...", "memory -list"}, {"vertarget", "eeversion"},
	{"x NAME", "name2ee NAME"}, {"dx ARGS...", "eval ARGS..."}, {"?? ARGS...", "eval ARGS..."},
	{"dt TYPE ADDRESS", "dumpobj ADDRESS"}, {"dt NAME", "name2ee *!NAME"}, {"dps ARGS...", "dp ARGS..."}, {"dpp ARGS...", "dp ARGS..."}, {"dqs ARGS...", "dp ARGS..."},
	{"uf ADDRESS", "clru ADDRESS"}, {"!u ARGS...", "clru ARGS..."}, {"!address -summary REST...", "memory"},
	{"address -summary REST...", "memory"}, {"!address", "memory -list"}, {"address", "memory -list"},
	{"!address ADDRESS", "ln ADDRESS"}, {"address ADDRESS", "ln ADDRESS"},
	{"!peb REST...", "process"}, {".time REST...", "process"}, {"procinfo REST...", "process"}, {"processinfo REST...", "process"}, {"vmstat REST...", "memory"},
	{"vmmap REST...", "memory -list"}, {"!teb", "threads -v"}, {"!handle REST...", "gchandles -stat"}, {".cls", "cls"},
	{"!dlk", "locks"}, {"dlk", "locks"}, {"!runaway", "clrthreads -stacks"},
	// gdb.
	{"bt full REST...", "clrstack -a -f"}, {"bt all", "clrstack -f -all"}, {"bt COUNT", "clrstack -f -c COUNT"}, {"bt", "clrstack -f"}, {"where", "clrstack -f"}, {"backtrace", "clrstack -f"},
	{"info threads", "threads"}, {"info registers ARGS...", "registers ARGS..."}, {"info reg ARGS...", "registers ARGS..."}, {"info sharedlibrary REST...", "modules"},
	{"info proc mappings REST...", "memory -list"}, {"info proc REST...", "doctor"}, {"info symbol ADDRESS", "ln ADDRESS"}, {"info locals", "clrstack -a"}, {"info args", "clrstack -p"},
	{"thread apply all bt REST...", "clrstack -f -all"}, {"thread apply all where", "clrstack -f -all"}, {"p ARGS...", "eval ARGS..."}, {"print ARGS...", "eval ARGS..."},
	// LLDB.
	{"thread list", "threads"}, {"thread backtrace all", "clrstack -f -all"}, {"thread backtrace", "clrstack -f"}, {"thread select ID", "setthread ID"},
	{"thread", "threads"}, {"thread ID", "setthread ID"}, {"image list REST...", "modules"}, {"image lookup -a ADDRESS", "ln ADDRESS"},
	{"register read ARGS...", "registers ARGS..."}, {"memory read ADDRESS ARGS...", "d ADDRESS ARGS..."}, {"memory region --all", "memory -list"},
	{"memory region ADDRESS", "ln ADDRESS"}, {"frame variable REST...", "clrstack -a"}, {"po ADDRESS", "dumpobj ADDRESS"},
	// Short names of SOS that dotnet-dump does not use, Psscor and SOSEX.
	{"ao ARGS...", "analyzeoom ARGS..."}, {"tp ARGS...", "threadpool ARGS..."}, {"vh ARGS...", "verifyheap ARGS..."}, {"dumpallexceptions ARGS...", "dumpexceptions ARGS..."},
	{"dae ARGS...", "dumpexceptions ARGS..."}, {"finq ARGS...", "finalizequeue ARGS..."}, {"strings", "dumpheap -strings"}, {"mk ARGS...", "clrstack ARGS..."},
	{"mdt ADDRESS", "dumpobj ADDRESS"}, {"mroot ADDRESS", "gcroot ADDRESS"}, {"refs ADDRESS", "referrers ADDRESS"}, {"gch ARGS...", "gchandles ARGS..."}, {"mu ADDRESS", "clru ADDRESS"},
	{"muf ADDRESS", "clru ADDRESS"}, {"mx NAME", "name2ee *!NAME"}, {"rwlock REST...", "locks"}, {"mlocks REST...", "locks"}, {"mwaits REST...", "waits"},
	// sosgo's own, for a process instead of a dump.
	{"triage -p PID REST...", "collect -then triage -p PID REST..."}, {"triage --pid PID REST...", "collect -then triage -p PID REST..."},
	// The shell.
	{"clear", "cls"},
}

// isPhrase reports whether more than the first word is fixed, as in "info threads".
func (sp *spelling) isPhrase() bool {
	fields := strings.Fields(sp.typed)
	return len(fields) > 1 && fields[1] != strings.ToUpper(fields[1]) && !strings.HasSuffix(fields[1], "...")
}

// match translates words by sp. ok is false if words do not match.
func (sp *spelling) match(words []word) (out []word, ok bool) {
	named := map[string][]word{}
	typed := strings.Fields(sp.typed)
	for i, t := range typed {
		switch {
		case strings.HasSuffix(t, "..."):
			named[t] = words[i:]
			words = words[:i]
		case i >= len(words) || words[i].literal && t != strings.ToUpper(t):
			return nil, false
		case i > 0 && t == strings.ToUpper(t):
			named[t] = words[i : i+1]
		case !strings.EqualFold(words[i].text, t):
			return nil, false
		}
	}
	if len(words) > len(typed) {
		return nil, false
	}
	for _, f := range strings.Fields(sp.sosgo) {
		if w, isName := named[f]; isName {
			out = append(out, w...)
		} else if w, isName := named[strings.TrimPrefix(f, "*!")]; isName { // all modules, unless one is named
			w[0].text = "*!" + strings.TrimPrefix(w[0].text, "*!")
			out = append(out, w...)
		} else {
			out = append(out, word{text: f})
		}
	}
	return out, true
}

// fromDebugger translates another debugger's command to sosgo's.
func (t *table) fromDebugger(words []word) []word {
	if len(words) == 0 || words[0].literal {
		return words
	}
	words = t.ofSOS(words)
	first := strings.ToLower(words[0].text)
	if out := examine(words); out != nil {
		return out
	}
	if first == "?" && len(words) > 1 && t.named(strings.TrimPrefix(words[1].text, "!")) == nil {
		return append([]word{{text: "eval"}}, words[1:]...) // a single ? is help
	}
	own := t.named(first) != nil && first != "q"
	plain := words
	if name, ok := strings.CutPrefix(words[0].text, "!"); ok && t.named(name) == nil {
		plain = append([]word{{text: name}}, words[1:]...)
	}
	for i := range spellings {
		if own && !spellings[i].isPhrase() {
			continue // sosgo's own command of that name takes precedence
		}
		for _, w := range [...][]word{words, plain} {
			if out, ok := spellings[i].match(w); ok {
				return stackArguments(out)
			}
		}
	}
	return words
}

// ofSOS removes the name of a debugger extension: sos dumpheap, !sos.dumpheap, !ext.dumpheap.
func (t *table) ofSOS(words []word) []word {
	first := strings.ToLower(words[0].text)
	if name := strings.TrimPrefix(first, "!"); (name == "sos" || name == "ext") && len(words) > 1 {
		return bang(words[1:])
	}
	for _, module := range []string{"sos.", "ext."} {
		if name, ok := strings.CutPrefix(strings.TrimPrefix(first, "!"), module); ok && name != "" {
			return bang(append([]word{{text: name}}, words[1:]...))
		}
	}
	return words
}

// bang prefixes a command with !, which selects SOS's command.
func bang(words []word) []word {
	if strings.HasPrefix(words[0].text, "!") {
		return words
	}
	return append([]word{{text: "!" + words[0].text}}, words[1:]...)
}

// stackArguments translates the arguments of WinDbg's k: a number of frames, or all threads.
func stackArguments(words []word) []word {
	if len(words) < 3 || words[0].text != "clrstack" || words[1].text != "-f" {
		return words
	}
	var out []word
	for i, w := range words {
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
