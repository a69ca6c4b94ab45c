package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// completionLimit is how many type names are offered at most.
const completionLimit = 200

// A candidate is a completion of a word.
type candidate struct {
	text  string
	about string
}

// complete finds completions of the word current that follows words. It
// reports files when file names should be offered instead.
func (a *app) complete(words []word, current string, global *binding) (found []candidate, files bool) {
	p := &parser{global: global}
	rest, err := p.parse(words, true)
	switch {
	case err != nil: // a value is missing: current is that value, or the line is wrong
		return a.completeValue(p, words, current)
	case len(rest) == 0 && strings.HasPrefix(current, "-"):
		return matchOptions(global.options, current), false
	case len(rest) == 0:
		return a.matchCommands(current), false
	}
	cmd, err := a.table.find(rest[0].text)
	if err != nil {
		return nil, false
	}
	p = newParser(cmd, global)
	if _, err := p.parse(rest[1:], false); err != nil {
		return a.completeValue(p, rest[1:], current)
	}
	if strings.HasPrefix(current, "-") {
		return matchOptions(slices.Concat(p.own.options, global.options), current), false
	}
	return a.completeArg(cmd, len(p.args), current)
}

// completeValue completes the value of the option that is the last word.
func (a *app) completeValue(p *parser, words []word, current string) ([]candidate, bool) {
	if len(words) == 0 || !words[len(words)-1].isOption() {
		return nil, false
	}
	name, _, hasValue := words[len(words)-1].cutOption()
	o, _ := p.find(name)
	if o == nil || hasValue {
		return nil, false
	}
	return a.matchKind(o.Kind, o.Choices, current)
}

// completeArg completes the n-th positional argument.
func (a *app) completeArg(cmd *Command, n int, current string) ([]candidate, bool) {
	_, args := cmd.Declares()
	if len(args) == 0 {
		return nil, false
	}
	if last := len(args) - 1; n > last {
		if !args[last].Many {
			return nil, false
		}
		n = last
	}
	if cmd.Name == "help" {
		return a.matchCommands(current), false
	}
	return a.matchKind(args[n].Kind, args[n].Choices, current)
}

func (a *app) matchKind(kind Kind, choices []string, current string) (found []candidate, files bool) {
	switch {
	case len(choices) > 0:
		for _, c := range choices {
			found = appendMatch(found, current, c, "")
		}
	case kind == File:
		return nil, true
	case kind == Address:
		found = a.matchAddresses(current)
	case kind == TypeName && a.env.TypeNames != nil && a.session.dump != nil:
		for _, n := range a.env.TypeNames(a.session.dump, a.session.Runtime(), current, completionLimit) {
			found = append(found, candidate{text: n})
		}
	}
	return found, false
}

// matchAddresses offers the addresses used in the session and those that it
// printed last.
func (a *app) matchAddresses(current string) []candidate {
	var found []candidate
	current = trimHexPrefix(current)
	for _, addr := range a.session.Recent() {
		found = appendMatch(found, current, fmt.Sprintf("%x", uint64(addr)), "")
	}
	for _, s := range a.printed.addresses() {
		found = appendMatch(found, current, s, "")
	}
	return found
}

func (a *app) matchCommands(current string) []candidate {
	var found []candidate
	for _, c := range a.table.list {
		if c.Hidden {
			continue
		}
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			found = appendMatch(found, current, n, c.Summary)
		}
	}
	return found
}

func matchOptions(options []Option, current string) []candidate {
	dashes := "-"
	if strings.HasPrefix(current, "--") {
		dashes = "--"
	}
	var found []candidate
	for i := range options {
		found = appendMatch(found, current, dashes+options[i].Name, options[i].Summary)
	}
	return found
}

// appendMatch adds text if it starts with current, in any case, and is new.
func appendMatch(found []candidate, current, text, about string) []candidate {
	if !matches(text, current) ||
		slices.ContainsFunc(found, func(c candidate) bool { return c.text == text }) {
		return found
	}
	return append(found, candidate{text, about})
}

// matches reports whether text starts with current, in any case.
func matches(text, current string) bool {
	return len(text) >= len(current) && strings.EqualFold(text[:len(current)], current)
}

// tailBytes is how much of the prompt's output is kept to find addresses in.
const tailBytes = 32 << 10

const (
	shortestAddress = 8  // digits; below that a number is more likely a count
	longestAddress  = 16 // digits
	lineBytes       = longestAddress + 4
)

// A tailBuffer keeps the end of what is written through it, so that addresses on the
// screen can be completed.
type tailBuffer struct {
	w    io.Writer
	b    []byte
	line []byte // the last line of the command's output, as far as it may be an address
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.keep(p[:n])
	return n, err
}

// keep keeps the end of p.
func (t *tailBuffer) keep(p []byte) {
	n := len(p)
	t.line = append(t.line, p[max(0, n-lineBytes):]...)
	t.line = t.line[max(0, len(t.line)-lineBytes):]
	if n >= tailBytes {
		t.b, p = t.b[:0], p[n-tailBytes:]
	} else if over := len(t.b) + n - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	t.b = append(t.b, p...)
}

// address returns the address that stands alone on the last line.
func (t *tailBuffer) address() (target.Addr, bool) {
	lines := strings.Split(strings.TrimRight(string(t.line), "\r\n"), "\n")
	text := strings.TrimSpace(lines[len(lines)-1])
	if len(text) < shortestAddress || len(text) > longestAddress || len(lines) == 1 && len(t.line) == lineBytes {
		return 0, false
	}
	a, err := strconv.ParseUint(text, 16, 64)
	return target.Addr(a), err == nil
}

// addresses returns the words of the output that look like addresses, the last
// one first, without zeros in front.
func (t *tailBuffer) addresses() []string {
	isHex := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
	}
	var out []string
	fields := strings.FieldsFunc(string(t.b), func(r rune) bool { return !isHex(r) })
	for _, f := range slices.Backward(fields) {
		digits := strings.ToLower(strings.TrimLeft(f, "0"))
		if len(f) >= 12 && len(f) <= longestAddress && len(digits) >= shortestAddress {
			out = append(out, digits)
		}
	}
	return out
}
