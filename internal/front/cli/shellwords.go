package cli

import (
	"errors"
	"slices"
	"strings"
	"sync"
)

// shellWords maps words that shells read to what a line of a session has instead.
var shellWords = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"&&": separates,
		"||": separates,
		"&":  "a command of a session runs until its answer is complete",
		"2>": "warnings and errors are shown as they come: neither > FILE nor a filter takes them",
		"$(": ".foreach runs a command for each word of an answer",
	}
})

const separates = "; separates commands: each of them runs, also after one that fails. Quotes keep an expression together"

// shellHint returns the hint for a word of a shell, or "".
func shellHint(w word) string {
	text := w.text
	switch {
	case w.literal:
		return ""
	case strings.HasPrefix(text, "2>"):
		text = "2>"
	case strings.HasPrefix(text, "$("):
		text = "$("
	}
	return shellWords()[text]
}

// asShell adds to a parsed line's error, which may be nil, what replaces a word of a shell in it. A line with such a word is refused; isCommand
// reports whether a word names a command, since expressions have the same operators.
func (l *line) asShell(text string, err error, isCommand func(string) bool) error {
	if err != nil {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "!"), " ")
		if known := isNotThere(strings.ToLower(name)); known != nil {
			return known // its arguments need no understanding
		}
		var usage *UsageError
		if !errors.As(err, &usage) || usage.Hint != "" {
			return err
		}
		for _, of := range [...]string{"||", "2>"} { // lex splits them
			if strings.Contains(text, of) {
				usage.Hint = shellWords()[of]
			}
		}
		return err
	}
	for _, f := range l.filters {
		if len(f) > 0 && !f[0].literal && f[0].text == "&" { // |& of shells
			return &UsageError{Text: "there is no |&", Hint: shellWords()["2>"]}
		}
	}
	words := slices.Concat(append([][]word{l.command}, l.filters...)...)
	for i, w := range words {
		last := i == len(words)-1
		if w.text == "&" && !last || w.text == "&&" && (last || !isCommand(words[i+1].text)) {
			continue
		}
		if hint := shellHint(w); hint != "" {
			return &UsageError{Text: "there is no " + w.text + " in a session", Hint: hint}
		}
	}
	return nil
}
