package cli

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// A Group is a heading of the command list.
type Group string

// The groups, in the order of the command list.
const (
	GroupObjects Group = "Objects and heap"
	GroupMemory  Group = "What holds memory"
	GroupThreads Group = "Threads and stacks"
	GroupTasks   Group = "What the program waits for"
	GroupApp     Group = "What the application does"
	GroupAsk     Group = "Questions of your own"
	GroupTypes   Group = "Types and code"
	GroupProcess Group = "Process and memory"
	GroupExport  Group = "Exports"
	GroupLive    Group = "Running processes"
	GroupShell   Group = "sosgo itself"
)

// Groups lists the groups in the order of the command list.
func Groups() []Group {
	return []Group{GroupObjects, GroupMemory, GroupThreads, GroupTasks, GroupApp, GroupAsk, GroupTypes, GroupProcess, GroupExport, GroupLive, GroupShell}
}

// A Command is an entry of the command table. Parsing, help, completion, the manual page and the documents are
// derived from it.
type Command struct {
	Name    string // lower case
	Aliases []string
	Group   Group
	Summary string // one line, no full stop
	Usage   string // without the name; if empty, derived from the options and arguments
	Help    string // further paragraphs
	// List, if not nil, returns the replacement for the word LIST in Help. It is called only when help is shown,
	// because building the lists of sources and columns took a quarter of the time before a dump is opened.
	List     func() string
	Examples []Example

	// Result is the type of the answer's JSON value, for the documents. In JSON, a text-only answer becomes the list
	// "text".
	Result reflect.Type

	NeedsDump bool // the dump is open when Ask starts
	NoDump    bool // exempts the command from In's default
	DumpArg   bool // the first argument may name the dump file
	Hidden    bool // not in lists
	OnlyAsks  bool // Ask computes and leaves nothing outside the process: it may be aborted at any point
	Sends     bool // the output is sent to others: secrets are masked unless the option full (Sent) is given
	Bytes     bool // prints bytes of memory, in which nothing can be masked
	Serves    bool // runs until stopped; skipped when all commands are run
	Live      bool // asks running processes: for the user's own command line alone, and not with --sandbox
	// Raw, on a line of a session, takes the text after the options unchanged as the argument, including quotes and
	// |. A filter begins with | and its name.
	Raw bool

	// Ask turns the options into a call of the library and returns the answer, which is then written in the form that
	// the user selected. An answer returned with an error holds what was read before the error.
	Ask func(*Context) (report.Answer, error)

	params reflect.Type // the struct with the options and arguments as fields; nil for None
	// around, if not nil, calls the command's function. It may prepare the command and explain its errors.
	around func(*Context, func() (report.Answer, error)) (report.Answer, error)

	// session replaces Ask for the prompt. It runs other commands, each with its own output and interrupt.
	session func(*Context) error
}

// help returns the further paragraphs.
func (c *Command) help() string {
	if c.List == nil {
		return c.Help
	}
	return strings.Replace(c.Help, "LIST", c.List(), 1)
}

// A Kind is the kind of an option's or argument's value.
type Kind uint8

// Kinds of values.
const (
	Bool       Kind = iota // without a value; -name=false clears it
	Address                // hexadecimal, with or without 0x, ` and _ allowed
	Int                    // decimal, or hexadecimal with 0x
	Size                   // bytes: an Int, with an optional unit k, m, g or t
	Str                    // any text
	TypeName               // text; completion offers type names
	File                   // text; completion offers file names
	Duration               // 30s, 5m
	Expression             // text; completion offers types and fields
)

// kindNames are the names of kinds in JSON.
var kindNames = [...]string{Bool: "flag", Address: "address", Int: "number", Size: "size", Str: "text", TypeName: "type", File: "file", Duration: "duration", Expression: "text"}

func (k Kind) String() string { return kindNames[k] }

var kindWords = [...]string{Bool: "", Address: "ADDRESS", Int: "N", Size: "SIZE", Str: "TEXT", TypeName: "TYPE", File: "FILE", Duration: "DURATION", Expression: "TEXT"}

// A param holds the common parts of options and arguments.
type param struct {
	Name        string // lower case, without dash
	Kind        Kind
	Summary     string
	Placeholder string   // in help; if empty, the kind's word
	Choices     []string // the only values allowed, compared without case
	offers      []string // texts that completion offers, beside others that are valid
	Many        bool     // an option may be repeated; an argument takes all remaining words
	Min, Max    *int64
	Default     string

	// Alternatives to an address besides an expression or register; see the tag kind.
	Expression, Method, Type, Value bool

	index []int // of the field
}

func (p *param) placeholder() string {
	switch {
	case p.Placeholder != "":
		return p.Placeholder
	case len(p.Choices) > 0:
		return strings.Join(p.Choices, "|")
	}
	return kindWords[p.Kind]
}

// An Option is a named option: -name, --name, in any case.
type Option struct {
	param
	Aliases            []string
	Excludes, Requires []string // names that exclude this option; names of which one is required
	Required           bool
	Reveals            bool // shows secrets
}

func (o *Option) is(name string) bool {
	return strings.EqualFold(o.Name, name) ||
		slices.ContainsFunc(o.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// An Arg is a positional argument.
type Arg struct {
	param
	Optional bool
}

// An Example is a command line and its purpose.
type Example struct{ Line, Text string }

// Declares returns the command's options and arguments.
func (c *Command) Declares() ([]Option, []Arg) {
	d := c.declaration()
	return d.options, d.args
}

func (c *Command) declaration() *declaration {
	params := c.params
	if params == nil {
		params = reflect.TypeFor[None]()
	}
	return declared(params)
}

// Around makes run call each of the commands. run may prepare the command and explain its errors.
func Around(commands []Command, run func(*Context, func() (report.Answer, error)) (report.Answer, error)) []Command {
	for i := range commands {
		commands[i].around = run
	}
	return commands
}

// In sets the group of commands. Each needs an open dump unless NoDump is set.
func In(g Group, commands ...Command) []Command {
	for i := range commands {
		commands[i].Group, commands[i].NeedsDump = g, !commands[i].NoDump
	}
	return commands
}

// UsageLine returns the command's name with its options and arguments.
func (c *Command) UsageLine() string {
	if c.Usage != "" {
		return c.Name + " " + c.Usage
	}
	var b strings.Builder
	b.WriteString(c.Name)
	options, args := c.Declares()
	for i := range options {
		if options[i].Required {
			b.WriteString(" " + options[i].synopsis())
		} else {
			b.WriteString(" [" + options[i].synopsis() + "]")
		}
	}
	for _, a := range args {
		word := strings.ToUpper(a.Name)
		if a.Many {
			word += "..."
		}
		if a.Optional {
			word = "[" + word + "]"
		}
		b.WriteString(" " + word)
	}
	return b.String()
}

func (o *Option) synopsis() string {
	s := "-" + o.Name
	if o.Kind != Bool {
		s += " " + o.placeholder()
	}
	return s
}

// A table finds commands by name. A process usually looks up one name, so the table has no map and sorts only when
// listed.
type table struct {
	sets   [][]Command
	once   sync.Once
	sorted []*Command
}

func newTable(sets ...[]Command) *table { return &table{sets: sets} }

// list returns the commands, sorted by name.
func (t *table) list() []*Command {
	t.once.Do(func() {
		for _, set := range t.sets {
			for i := range set {
				t.sorted = append(t.sorted, &set[i])
			}
		}
		slices.SortStableFunc(t.sorted, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	})
	return t.sorted
}

// named returns the command with a name or alias, in any case, or nil.
func (t *table) named(name string) *Command {
	name = strings.ToLower(name)
	for _, set := range t.sets {
		for i := range set {
			if set[i].Name == name || slices.Contains(set[i].Aliases, name) {
				return &set[i]
			}
		}
	}
	return nil
}

// find returns the command with a name. It ignores a leading !, which other debuggers use.
func (t *table) find(name string) (*Command, error) {
	name = strings.TrimPrefix(name, "!")
	if c := t.named(name); c != nil {
		return c, nil
	}
	if err := isNotThere(strings.ToLower(name)); err != nil {
		return nil, err
	}
	if why, ok := unread()[strings.ToLower(name)]; ok {
		return nil, Settled(target.Unsupportedf("%s: %s", strings.ToLower(name), why))
	}
	if forms := otherForms(name); forms != "" {
		return nil, &UsageError{Text: fmt.Sprintf("there is no command %q of this form", name), Hint: "instead: " + forms}
	}
	err := &UsageError{Text: fmt.Sprintf("there is no command %q", name), Hint: listsCommands}
	var names []string
	for _, c := range t.list() {
		if !c.Hidden {
			names = append(append(names, c.Name), c.Aliases...)
		}
	}
	if s := suggest(name, names); s != "" {
		err.Hint = fmt.Sprintf("did you mean %q? ", s) + err.Hint
	} else if about := t.about(name); about != nil {
		err.Hint = fmt.Sprintf("about that: %s; ", strings.Join(about, ", ")) + err.Hint
	} else if strings.HasPrefix(name, ".") {
		err.Hint = "commands with a full stop belong to WinDbg itself; " + err.Hint
	}
	return nil, err
}

// about lists the commands with a summary word that shares its beginning with word: "deadlock" finds the commands
// about deadlocks. It ignores words that many summaries share.
func (t *table) about(word string) []string {
	const shortest, most = 4, 6
	word = strings.ToLower(word)
	if len(word) < shortest {
		return nil
	}
	var out []string
	for _, c := range t.list() {
		if !c.Hidden && slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(c.Summary), func(r rune) bool { return !unicode.IsLetter(r) }), func(w string) bool {
			return strings.HasPrefix(w, word) || len(w) >= shortest && strings.HasPrefix(word, w)
		}) {
			out = append(out, c.Name)
		}
	}
	if len(out) > most {
		return nil
	}
	return out
}

// Check reports the first error in a table of commands: a name that clashes or is not lower case, an option without
// text, or arguments in an impossible order.
func Check(commands []Command) error {
	seen := map[string]string{}
	for i := range commands {
		c := &commands[i]
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if n == "" || n != strings.ToLower(n) || strings.ContainsAny(n, " -|>") {
				return fmt.Errorf("command %q: bad name %q", c.Name, n)
			}
			if seen[n] != "" {
				return fmt.Errorf("command %q: the name %q is taken by %q", c.Name, n, seen[n])
			}
			seen[n] = c.Name
		}
		if c.Summary == "" || c.Ask == nil && c.session == nil || !slices.Contains(Groups(), c.Group) {
			return fmt.Errorf("command %q has no summary, no function or no group", c.Name)
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("command %q: %w", c.Name, err)
		}
	}
	return nil
}

func (c *Command) check() error {
	options, args := c.Declares()
	seen := map[string]bool{}
	for _, o := range options {
		for _, n := range append([]string{o.Name}, o.Aliases...) {
			if n == "" || seen[strings.ToLower(n)] || o.Summary == "" {
				return fmt.Errorf("option %q is empty, double or without summary", n)
			}
			seen[strings.ToLower(n)] = true
		}
	}
	for i, a := range args {
		switch {
		case seen[strings.ToLower(a.Name)] || a.Name == "" || a.Kind == Bool || a.Summary == "":
			return fmt.Errorf("argument %q clashes, is empty, has no summary or is a Bool", a.Name)
		case a.Many && i != len(args)-1, !a.Optional && i > 0 && args[i-1].Optional:
			return fmt.Errorf("argument %q stands in an impossible place", a.Name)
		}
		seen[strings.ToLower(a.Name)] = true
	}
	if c.DumpArg && len(args) == 0 {
		return errors.New("there is no argument to name the dump")
	}
	for _, o := range options {
		for _, n := range slices.Concat(o.Excludes, o.Requires) {
			if !seen[strings.ToLower(n)] {
				return fmt.Errorf("option %q names %q, which is not declared", o.Name, n)
			}
		}
	}
	d := c.declaration()
	return cmp.Or(d.err, d.checkTags())
}
