package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// mostItems is the maximum number of words that a loop runs its commands for.
const mostItems = 100_000

// A loop runs commands for each word of an answer: WinDbg's .foreach, or the filter foreach.
type loop struct {
	in   []line
	name string // the word that stands for the item; empty if it is added at the end of the only command
	skip int    // items that are left out at the beginning
	step int    // each step-th item is used
	body []line
}

// loopUsage is the form of .foreach.
const loopUsage = ".foreach (NAME {COMMANDS}) {COMMANDS with NAME or ${NAME}}; /pS N skips words first, /ps N after each"

func loopError(text string) error {
	return &UsageError{Command: ".foreach", Text: text, Hint: loopUsage}
}

// blocks matches WinDbg's commands that have commands in braces.
var blocks = newPattern(".", `^(?i)\.(foreach|for|if|else|elsif|while|do|block|catch)\b`)

// isBlock reports whether a line begins with one.
func isBlock(text string) bool {
	_, text = cutThread(strings.TrimSpace(text))
	return blocks.submatches(text) != nil
}

// loopLine parses .foreach and the filters behind it. isLoop is false for other lines.
func (a *app) loopLine(text string) (l line, isLoop bool, err error) {
	const name = ".foreach"
	if len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return l, false, nil
	}
	l.loop = &loop{step: 1}
	rest := strings.TrimSpace(text[len(name):])
	for strings.HasPrefix(rest, "/") {
		option, after, _ := strings.Cut(rest, " ")
		number, after, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
		n, err := strconv.ParseUint(number, 0, 31)
		switch {
		case err != nil || option != "/pS" && option != "/ps":
			return l, true, loopError(option + " is not an option of .foreach with a number")
		case option == "/pS":
			l.loop.skip = int(n)
		default:
			l.loop.step = int(n) + 1
		}
		rest = strings.TrimSpace(after)
	}
	head, rest, ok := cutBlock(rest, '(', ')')
	if !ok {
		return l, true, loopError("a name and commands are needed in parentheses")
	}
	brace := strings.IndexByte(head, '{')
	if brace < 0 {
		return l, true, loopError("commands are needed in braces behind the name")
	}
	l.loop.name = strings.TrimSpace(head[:brace])
	in, behind, okIn := cutBlock(head[brace:], '{', '}')
	body, rest, okBody := cutBlock(rest, '{', '}')
	switch {
	case l.loop.name == "" || strings.ContainsAny(l.loop.name, " \t\"'"):
		return l, true, loopError("a name of one word is needed")
	case !okIn || !okBody || strings.TrimSpace(behind) != "":
		return l, true, loopError("commands are needed in braces")
	}
	if l.loop.in, err = a.parseParts(in); err == nil {
		l.loop.body, err = a.parseParts(body)
	}
	if rest = strings.TrimSpace(rest); err != nil || rest == "" {
		return l, true, err
	}
	f, err := parseLine("x " + rest)
	if len(f.command) > 1 {
		return l, true, loopError("nothing but filters may follow")
	}
	l.filters, l.file, l.append = f.filters, f.file, f.append
	return l, true, err
}

// cutBlock cuts a block in brackets, which may be nested, from the beginning of text. Brackets in quotes don't count.
func cutBlock(text string, open, shut byte) (inside, rest string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != open {
		return "", text, false
	}
	depth, quote := 0, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == open:
			depth++
		case c == shut:
			if depth--; depth == 0 {
				return text[1:i], text[i+1:], true
			}
		}
	}
	return "", text, false
}

// parseParts parses the commands of a block.
func (a *app) parseParts(text string) (out []line, err error) {
	for _, part := range splitCommands(text) {
		part = strings.TrimSpace(part)
		if isComment(part) {
			continue
		}
		l, err := a.parsePart(part)
		switch {
		case err != nil:
			return nil, err
		case l.file != "":
			return nil, loopError("> may stand at the end of the line alone")
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, loopError("a command is missing in braces")
	}
	return out, nil
}

// loops are the names of the filter that runs a command for each word.
var loops = []string{"foreach", "xargs", "%", "foreach-object"}

// filterLoop turns the first filter that runs a command, as in "dumpheap -short | foreach dumpobj", into a loop over
// the filters before it.
func (l *line) filterLoop() error {
	i := slices.IndexFunc(l.filters, func(f []word) bool {
		return !f[0].literal && (slices.Contains(loops, strings.ToLower(f[0].text)) || len(f[0].text) > 1 && f[0].text[0] == '!')
	})
	if i < 0 {
		return nil
	}
	command := l.filters[i]
	if command[0].text[0] != '!' {
		command = command[1:]
	}
	command = withoutOptions(command)
	if len(command) == 0 {
		return &UsageError{Text: "a command is missing behind " + l.filters[i][0].text, Hint: "dumpheap -short -type TYPE | foreach dumpobj"}
	}
	in := line{command: l.command, filters: l.filters[:i:i], loop: l.loop}
	body := line{command: command}
	l.loop, l.command, l.filters = &loop{in: []line{in}, step: 1, body: []line{body}}, nil, l.filters[i+1:]
	return l.filterLoop() // the answers of this loop may be the words of the next
}

// withoutOptions returns the command of "xargs -n 1 COMMAND" or "xargs -I {} COMMAND".
func withoutOptions(command []word) []word {
	for len(command) > 0 {
		switch text := command[0].text; {
		case len(command) > 1 && text == "-n", len(command) > 1 && text == "-I" && command[1].text == "{}":
			command = command[2:]
		case text == "-n1", text == "-I{}":
			command = command[1:]
		default:
			return command
		}
	}
	return command
}

// with returns l with an item in place of the name, in the arguments of its commands and filters.
func (l line) with(name, item string) (line, error) {
	var err error
	if l.command, err = withItem(l.command, name, item); err != nil {
		return l, err
	}
	l.filters = slices.Clone(l.filters)
	for i := range l.filters {
		if l.filters[i], err = withItem(l.filters[i], name, item); err != nil {
			return l, err
		}
	}
	if l.loop != nil {
		inner := *l.loop
		if inner.in, err = allWith(inner.in, name, item); err != nil {
			return l, err
		}
		if inner.body, err = allWith(inner.body, name, item); err != nil {
			return l, err
		}
		l.loop = &inner
	}
	return l, nil
}

func allWith(lines []line, name, item string) ([]line, error) {
	out := slices.Clone(lines)
	for i := range out {
		var err error
		if out[i], err = out[i].with(name, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// withItem replaces the name in words. The item is text of an answer, and so perhaps of the dump: it is no option, no
// operator and no command. It may be the value of an option that the line names.
func withItem(words []word, name, item string) ([]word, error) {
	out := slices.Clone(words)
	for i := range out {
		w := &out[i]
		switch braced := "${" + name + "}"; {
		case !w.literal && w.text == name:
			w.text, w.literal = item, true
		case strings.Contains(w.text, braced):
			option, _, hasValue := strings.Cut(w.text, "=")
			w.literal = w.literal || !hasValue || !strings.HasPrefix(option, "-") || strings.Contains(option, braced)
			w.text = strings.ReplaceAll(w.text, braced, item)
		default:
			continue
		}
		if i == 0 {
			return nil, loopError("a word of an answer can't be a command")
		}
	}
	return out, nil
}

// appended returns the only command of a filter with an item at its end, or in place of {}.
func (l line) appended(item string) line {
	l.command = slices.Clone(l.command)
	if i := slices.IndexFunc(l.command, func(w word) bool { return w.text == "{}" }); i > 0 {
		l.command[i] = word{text: item, literal: true}
	} else {
		l.command = append(l.command, word{text: item, literal: true})
	}
	return l
}

// runLoop runs a loop with its output to w. It returns the first error, and ends early at exit and on an interrupt.
func (a *app) runLoop(ctx context.Context, l *loop, w io.Writer) (first error) {
	items := &itemWriter{}
	asJSON := a.globals.JSON
	a.globals.JSON = false // the items are words of text
	var fatal error
	for i := range l.in {
		err := a.runInto(ctx, l.in[i], items)
		first = cmp.Or(first, err)
		if err != nil && !isAboutDump(err) {
			fatal = err
			break
		}
	}
	a.globals.JSON = asJSON
	words := strings.Fields(string(items.text))
	if fatal == nil && len(words) > mostItems {
		fatal = &UsageError{Text: "there are more than " + strconv.Itoa(mostItems) + " words", Hint: "head -n N takes some of them; query asks about all objects at once"}
		a.fail("", fatal)
	}
	if fatal != nil {
		return fatal
	}
	var wrong repeated
	for i := l.skip; i < len(words); i += l.step {
		for _, body := range l.body {
			err := error(nil)
			if l.name == "" {
				body = body.appended(words[i])
			} else if body, err = body.with(l.name, words[i]); err != nil {
				a.fail("", err)
				return err
			}
			err = a.runInto(ctx, body, w)
			if first == nil {
				first = err
			}
			if err == errExit || errors.Is(err, errInterrupted) || ctx.Err() != nil {
				return err
			}
			if wrong.by(err) {
				return first
			}
			if out, ok := w.(*lineSplitter); ok && out.ended {
				return first // head needs no more
			}
		}
	}
	return first
}

// isAboutDump reports whether err is about what the dump holds. The answer before it has words all the same.
func isAboutDump(err error) bool {
	switch ExitCode(err) {
	case ExitNotInDump, ExitCorrupt, ExitUnsupported, ExitGate:
		return true
	}
	return false
}

// A repeated counts how often in a row a command of a loop has failed for the same error of usage.
type repeated struct {
	text  string
	times int
}

// mostRepeated is the number of equal errors of usage after which a loop ends: those of the next words are the same.
const mostRepeated = 3

// by counts err, and reports whether the loop ends.
func (r *repeated) by(err error) bool {
	var usage *UsageError
	switch {
	case !errors.As(err, &usage):
		*r = repeated{}
	case usage.Text != r.text:
		*r = repeated{usage.Text, 1}
	default:
		r.times++
	}
	return r.times == mostRepeated
}

// mostItemBytes is the maximum length of the answers that a loop takes words from.
const mostItemBytes = 32 << 20

// An itemWriter keeps text up to mostItemBytes, and one byte more.
type itemWriter struct{ text []byte }

func (i *itemWriter) Write(p []byte) (int, error) {
	if len(i.text)+len(p) > mostItemBytes {
		return 0, errOutputClosed
	}
	i.text = append(i.text, p...)
	return len(p), nil
}
