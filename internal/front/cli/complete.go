package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/target"
)

const (
	// completionLimit is the maximum number of names offered.
	completionLimit = 200
	// completionTime is the longest time that one Tab reads names. The next Tab continues from there.
	completionTime = 2 * time.Second
)

// A candidate is a completion of a word.
type candidate struct {
	text  string
	about string
	open  bool // the word may continue
}

// Names completes the names of types and members. Each method returns at most limit names. It reads until ctx ends
// and completes from the names read so far.
type Names interface {
	// Types returns types that start with prefix in any case. For the types of a namespace it returns the namespace
	// with a trailing point.
	Types(ctx context.Context, prefix string, limit int) []string
	// Members completes a path that starts with a type: Ns.Type.s_field.name, or Ns.Type.Method.
	Members(ctx context.Context, path string, kind Members, limit int) []string
	// Fields completes a path of instance fields of a type: _name.Length.
	Fields(ctx context.Context, typeName, path string, limit int) []string
}

// Members is a kind of members of types.
type Members uint8

// Kinds of members.
const (
	StaticFields Members = iota
	Methods
)

// names returns the names of the session's runtime, or nil if the session has no names or uses symbol servers. With
// symbol servers, completion would wait for downloads.
func (a *app) names() Names {
	s := a.session
	if a.env.Names == nil || s.dump == nil || len(s.options.SymbolServers) > 0 {
		return nil
	}
	if c := &a.completed; c.names == nil || c.dump != s.dump || c.runtime != s.Runtime() {
		c.dump, c.runtime, c.names = s.dump, s.Runtime(), a.env.Names(s.dump, s.Runtime())
	}
	return a.completed.names
}

// complete returns completions of current, the word after words. files reports whether to offer file names instead.
func (a *app) complete(words []word, current string, global *binding) (found []candidate, files bool) {
	p := &parser{global: global}
	rest, err := p.parse(words, true)
	switch {
	case err != nil: // a value is missing, and current is that value; or the line is invalid
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
	return a.completeArg(cmd, p, current)
}

// completeValue completes the value of the option at the end of words.
func (a *app) completeValue(p *parser, words []word, current string) ([]candidate, bool) {
	if len(words) == 0 || !words[len(words)-1].isOption() {
		return nil, false
	}
	name, _, hasValue := words[len(words)-1].cutOption()
	o, _ := p.find(name)
	if o == nil || hasValue {
		return nil, false
	}
	return a.matchKind(&o.param, "", current)
}

// completeArg completes the argument after the arguments of p.
func (a *app) completeArg(cmd *Command, p *parser, current string) ([]candidate, bool) {
	_, args := cmd.Declares()
	n := len(p.args)
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
	var before []string
	for _, w := range p.args {
		before = append(before, w.text)
	}
	return a.matchKind(&args[n].param, strings.Join(before, " "), current)
}

// matchKind completes a value. before is the text of the preceding arguments.
func (a *app) matchKind(p *param, before, current string) (found []candidate, files bool) {
	switch {
	case len(p.Choices)+len(p.offers) > 0:
		for _, c := range slices.Concat(p.Choices, p.offers) {
			found = appendMatch(found, current, c, "")
		}
	case p.Name == "thread" && p.Kind == Str:
		found = a.matchThreads(current)
	case p.Kind == File:
		return nil, true
	case p.Kind == Address:
		found = a.matchAddresses(current)
		if len(found) == 0 && current != "" && (p.Expression || p.Method) {
			found = a.matchNames(p, before, current)
		}
	case p.Kind == TypeName || p.Kind == Expression:
		found = a.matchNames(p, before, current)
	}
	return found, false
}

var (
	// path matches the dotted name at the end of an expression.
	path = lazyRegexp("[\\pL\\pN_.+`]*$")
	// ofType matches the type that a query selects.
	ofType = lazyRegexp(`(?i)\b(?:of(?:\s+exactly)?|from)\s+([\pL_][\pL\pN_.+]*)`)
	// afterType matches text that a type must follow.
	afterType = lazyRegexp(`(?i)\b(?:of(?:\s+exactly)?|from|is|as)\s*$`)
)

// matchNames completes types and, in an expression, their fields or methods.
func (a *app) matchNames(p *param, before, current string) (found []candidate) {
	names := a.names()
	if names == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	text := current
	if p.Kind != TypeName {
		text = path().FindString(current)
	}
	start := current[:len(current)-len(text)]
	add := func(words []string, open bool) {
		for _, w := range words {
			found = appendMatch(found, current, start+w, "")
			if n := len(found); n > 0 && (open || strings.HasSuffix(w, ".")) {
				found[n-1].open = true
			}
		}
	}
	types := names.Types(ctx, text, completionLimit)
	switch {
	case p.Method:
		add(types, true)
		add(names.Members(ctx, text, Methods, completionLimit), false)
		return found
	case p.Kind == TypeName:
		add(types, false)
		return found
	}
	if of := ofType().FindAllStringSubmatch(before+" "+start, -1); of != nil && !afterType().MatchString(before+" "+start) {
		add(names.Fields(ctx, of[len(of)-1][1], text, completionLimit), true)
	}
	if text != "" {
		add(types, true)
		add(names.Members(ctx, text, StaticFields, completionLimit), true)
	}
	return found
}

// matchThreads offers the indices of the threads.
func (a *app) matchThreads(current string) (found []candidate) {
	if a.env.Threads == nil || a.session.dump == nil {
		return nil
	}
	list, err := a.env.Threads(a.session.dump, a.session.Runtime())
	if err != nil {
		return nil // the command reports it
	}
	for i, id := range list[:min(len(list), completionLimit)] {
		found = appendMatch(found, current, strconv.Itoa(i), fmt.Sprintf("%#x", id))
	}
	return found
}

// matchFiles offers the files of a folder. Names with blanks would need quotes and are left out.
func matchFiles(current string) (found []candidate) {
	dir, _ := filepath.Split(current)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if len(found) == completionLimit || strings.ContainsAny(e.Name(), " \t|>;'\"") || e.Name()[0] == '.' && dir == current {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() {
			name += string(filepath.Separator)
		}
		n := len(found)
		if found = appendMatch(found, current, name, ""); len(found) > n {
			found[n].open = e.IsDir()
		}
	}
	return found
}

// matchFilters offers the filters.
func matchFilters(current string) (found []candidate) {
	for _, name := range filterNames {
		found = appendMatch(found, current, name, "")
	}
	return found
}

// matchAddresses offers the addresses used in the session and the addresses printed most recently.
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
	for _, c := range a.table.list() {
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
	return append(found, candidate{text: text, about: about})
}

// matches reports whether text starts with current, in any case.
func matches(text, current string) bool {
	return len(text) >= len(current) && strings.EqualFold(text[:len(current)], current)
}

// tailBytes is the number of bytes of output searched for addresses.
const tailBytes = 32 << 10

const (
	shortestAddress = 8  // digits; a shorter number is probably a count
	longestAddress  = 16 // digits
	lineBytes       = longestAddress + 4
)

// A tailBuffer keeps the end of the output written through it, for the completion of addresses.
type tailBuffer struct {
	w    io.Writer
	log  *sessionLog // nil without one, and for the output to a file
	b    []byte
	line []byte // the end of the last output line, at most lineBytes
	rest []byte // the end of the output that the log lacks: the beginning of a character or of a color
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	if t.log != nil {
		whole := slices.Concat(t.rest, p[:n])
		end := wholeText(whole)
		t.log.writeLogged(whole[:end])
		t.rest = append([]byte(nil), whole[end:]...)
	}
	t.keep(p[:n])
	return n, err
}

// flushLog adds to the log what Write has kept back.
func (t *tailBuffer) flushLog() {
	t.log.writeLogged(t.rest)
	t.rest = nil
}

// keep appends p and drops the oldest bytes.
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

// address returns the address on the last line, if the line holds nothing else.
func (t *tailBuffer) address() (target.Addr, bool) {
	lines := strings.Split(strings.TrimRight(string(t.line), "\r\n"), "\n")
	text := strings.TrimSpace(lines[len(lines)-1])
	if len(text) < shortestAddress || len(text) > longestAddress || len(lines) == 1 && len(t.line) == lineBytes {
		return 0, false
	}
	a, err := strconv.ParseUint(text, 16, 64)
	return target.Addr(a), err == nil
}

// addresses returns the words of the output that look like addresses, newest first, without leading zeros.
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
