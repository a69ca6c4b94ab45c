package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A word is one word of a command line.
type word struct {
	text    string
	literal bool // quoted: neither an option nor a variable
}

func literalWords(args []string) []word {
	w := make([]word, len(args))
	for i, a := range args {
		w[i].text = a
	}
	return w
}

// isOption reports whether w has the form of an option.
func (w word) isOption() bool { return !w.literal && len(w.text) > 1 && w.text[0] == '-' }

// cutOption splits -name=value or -name:value.
func (w word) cutOption() (name, val string, hasValue bool) {
	s := strings.TrimPrefix(strings.TrimPrefix(w.text, "-"), "-")
	if i := strings.IndexAny(s, "=:"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// A parser parses options. The command's own options take precedence over global options of the same name.
type parser struct {
	command *Command // nil until the command is known
	own     *binding // of the command
	global  *binding // nil without global options
	// isFile reports whether there is a file of a name. If nil, none is looked for.
	isFile func(name string) bool

	args []word
	help bool // -h, -help or -? was given
}

func newParser(c *Command, global *binding) *parser {
	return &parser{command: c, own: c.declaration().bind(), global: global}
}

// parse parses words. If first is set, it stops at the first word that is not an option and returns the remaining
// words.
func (p *parser) parse(words []word, first bool) (rest []word, err error) {
	for len(words) > 0 {
		w := words[0]
		switch {
		case w.text == "--" && !w.literal:
			if first {
				return words[1:], nil
			}
			p.args = append(p.args, words[1:]...)
			return nil, nil
		case p.isSlashD(w):
			words = words[1:]
		case p.isSlash(w):
			words = append([]word{{text: "-" + w.text[1:]}}, words[1:]...)
		case w.isOption():
			if words, err = p.option(words); err != nil {
				return nil, err
			}
		case first:
			return words, nil
		default:
			p.args, words = append(p.args, w), words[1:]
		}
	}
	return nil, nil
}

// isSlashD reports whether w is /d. SOS's links use it to request plain output.
func (p *parser) isSlashD(w word) bool {
	return !w.literal && w.text == "/d" && p.command != nil && p.own.named("d") == nil
}

// isSlash reports whether w is an option of the command in WinDbg's form, such as /stat. An existing file of that
// name takes precedence.
func (p *parser) isSlash(w word) bool {
	if w.literal || len(w.text) < 2 || w.text[0] != '/' || p.command == nil {
		return false
	}
	name, _, _ := word{text: "-" + w.text[1:]}.cutOption()
	if name == "?" {
		return true
	}
	if p.own.named(name) == nil {
		return false
	}
	return p.isFile == nil || !p.isFile(w.text)
}

// named returns the option with a name or alias, or nil.
func (d *declaration) named(name string) *Option {
	for i := range d.options {
		if o := &d.options[i]; o.is(name) {
			return o
		}
	}
	return nil
}

// option parses the option at the start of words and returns the rest.
func (p *parser) option(words []word) ([]word, error) {
	name, val, hasValue := words[0].cutOption()
	o, into := p.find(name)
	if o == nil {
		if isHelp(name) && !hasValue {
			p.help = true
			return words[1:], nil
		}
		return nil, p.unknown(words[0].text, name)
	}
	words = words[1:]
	switch {
	case hasValue:
	case o.Kind == Bool:
		val = "true"
	case len(words) == 0 || p.isKnownOption(words[0]):
		return nil, p.usagef("the option -%s needs a value: -%s %s", o.Name, o.Name, o.placeholder())
	default:
		val, words = words[0].text, words[1:]
	}
	if err := into.set(&o.param, val); err != nil {
		return nil, p.usagef("option -%s: %v", o.Name, err)
	}
	return words, nil
}

// isKnownOption reports whether w is an option in the place of a value. A forgotten value must not swallow the next
// option.
func (p *parser) isKnownOption(w word) bool {
	if !w.isOption() {
		return false
	}
	name, _, _ := w.cutOption()
	o, _ := p.find(name)
	return o != nil || isHelp(name)
}

func isHelp(name string) bool {
	return name == "?" || strings.EqualFold(name, "h") || strings.EqualFold(name, "help")
}

// find returns the option with a name and the binding that declares it, or nil.
func (p *parser) find(name string) (*Option, *binding) {
	for _, b := range p.bindings() {
		if o := b.named(name); o != nil {
			return o, b
		}
	}
	return nil, nil
}

// bindings returns the bindings to search for options.
func (p *parser) bindings() []*binding {
	return slices.DeleteFunc([]*binding{p.own, p.global}, func(b *binding) bool { return b == nil })
}

func (p *parser) unknown(text, name string) error {
	var names []string
	for _, b := range p.bindings() {
		names = append(names, optionNames(b.options)...)
	}
	err := p.usagef("unknown option %s", text)
	if s := suggest(name, names); s != "" {
		err.Hint = fmt.Sprintf("did you mean -%s? ", s) + err.Hint
	}
	return err
}

func optionNames(options []Option) []string {
	var names []string
	for i := range options {
		names = append(append(names, options[i].Name), options[i].Aliases...)
	}
	return names
}

// isNumeral reports whether text starts with a digit and has only letters and digits, so that it can only be a
// number.
func isNumeral(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9' && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// bind assigns the positional words to the command's arguments and checks their combination.
func (p *parser) bind() error {
	words := p.args
	for i := range p.own.args {
		a := &p.own.args[i]
		if len(words) == 0 {
			if !a.Optional {
				return p.usagef("%s is missing", strings.ToUpper(a.Name))
			}
			break
		}
		n := 1
		if a.Many {
			n = len(words)
		}
		for _, w := range words[:n] {
			if err := p.own.arg(a, w.text); err != nil {
				return p.usagef("%s: %v", strings.ToUpper(a.Name), err)
			}
		}
		words = words[n:]
	}
	if len(words) > 0 {
		return p.usagef("unexpected argument %q", words[0].text)
	}
	if err := p.own.check(); err != nil {
		return p.usagef("%v", err)
	}
	return nil
}

func (p *parser) usagef(format string, args ...any) *UsageError {
	e := &UsageError{Text: fmt.Sprintf(format, args...), Hint: `see "sosgo help"`}
	if p.command != nil {
		e.Command = p.command.Name
		e.Hint = fmt.Sprintf("usage: %s; \"help %s\" shows more", p.command.UsageLine(), p.command.Name)
	}
	return e
}

// errNoVariable is the error for a variable that is not set.
var errNoVariable = errors.New("has no value yet")

// expand replaces $_ (the last address) and $thread (the id of the current thread) where they are a whole unquoted
// word.
func expand(words []word, s *Session) error {
	for i := range words {
		w := &words[i]
		if w.literal || !strings.HasPrefix(w.text, "$") {
			continue
		}
		text, known, ok := s.variable(w.text)
		switch {
		case known && !ok:
			return &UsageError{Text: fmt.Sprintf("%s %v", w.text, errNoVariable),
				Hint: "$_ is the last address that a command was given or found; $thread is set by setthread"}
		case known:
			w.text = text
		}
	}
	return nil
}
