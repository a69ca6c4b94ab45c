package signature

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// DefaultRules is the text of the default rules for crash signatures.
//
//go:embed default.rules
var DefaultRules string

// Limits of a rules file.
const (
	MaxRules     = 1 << 20 // bytes
	maxRuleLines = 10_000
	maxFrames    = 20 // of a signature
)

// Rules select the frames of a crash signature.
type Rules struct {
	skip, library, strip, sentinel, modules []string // patterns

	frames int
	hash   string // hash of rules other than the default, which make other signatures
}

var defaultRules = sync.OnceValue(func() *Rules {
	r, err := ParseRules(DefaultRules)
	if err != nil {
		panic(err) // the text is part of this package
	}
	r.hash = ""
	return r
})

// ParseRules reads a rules file. Each line is a rule: its kind, a space, and a pattern, which is a prefix of names. An
// asterisk in it matches any text. Text after " #" is a comment. An error names the line.
func ParseRules(text string) (*Rules, error) {
	if len(text) > MaxRules {
		return nil, target.Argumentf("the rules have %d bytes, and may have %d", len(text), MaxRules)
	}
	r := &Rules{}
	if text != DefaultRules {
		sum := sha256.Sum256([]byte(text))
		r.hash = hex.EncodeToString(sum[:4])
	}
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > maxRuleLines {
			return nil, target.Argumentf("the rules have more than %d lines", maxRuleLines)
		}
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if err := r.add(line); err != nil {
			return nil, fmt.Errorf("line %d of the rules: %w", n, err)
		}
	}
	if r.frames == 0 {
		r.frames = defaultFrames
	}
	return r, nil
}

func (r *Rules) add(line string) error {
	kind, pattern, _ := strings.Cut(line, " ")
	if pattern = strings.TrimSpace(pattern); strings.Trim(pattern, "*") == "" {
		return target.Argumentf("the rule %q has no pattern", kind)
	}
	switch kind {
	case "skip":
		r.skip = append(r.skip, pattern)
	case "library":
		r.library = append(r.library, pattern)
	case "strip":
		r.strip = append(r.strip, pattern)
	case "sentinel":
		r.sentinel = append(r.sentinel, pattern)
	case "module":
		r.modules = append(r.modules, strings.ToLower(pattern))
	case "frames":
		n, err := strconv.Atoi(pattern)
		if err != nil || n < 1 || n > maxFrames || r.frames != 0 {
			return target.Argumentf("frames is a number from 1 to %d, once", maxFrames)
		}
		r.frames = n
	default:
		return target.Argumentf("there is no rule %q: skip, library, strip, sentinel, module and frames are rules", kind)
	}
	return nil
}

// starts returns the first pattern that is a prefix of a name.
func starts(patterns []string, name string) (pattern string, found bool) {
	i := slices.IndexFunc(patterns, func(p string) bool { return match(p, name) })
	if i < 0 {
		return "", false
	}
	return patterns[i], true
}

// match reports whether a name starts with a pattern.
func match(pattern, name string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	if !strings.HasPrefix(name, first) {
		return false
	}
	for name = name[len(first):]; more; {
		first, rest, more = strings.Cut(rest, "*")
		i := strings.Index(name, first)
		if i < 0 {
			return false
		}
		name = name[i+len(first):]
	}
	return true
}

func (r *Rules) irrelevantFrame(name string) bool {
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, "[")
	_, found := starts(r.skip, name)
	return found
}

func (r *Rules) irrelevantModule(name string) bool {
	_, found := starts(r.modules, strings.ToLower(name))
	return found
}

// libraryFrame reports whether a method belongs to a library, not to the program.
func (r *Rules) libraryFrame(name string) bool {
	_, found := starts(r.library, name)
	return found || answer.LibraryMethod(name)
}

// stripped returns a method's name without the prefix that a strip rule matches.
func (r *Rules) stripped(name string) string {
	p, found := starts(r.strip, name)
	if !found {
		return name
	}
	at := 0
	for part := range strings.SplitSeq(p, "*") {
		at += strings.Index(name[at:], part) + len(part)
	}
	if at == len(name) {
		return name
	}
	return name[at:]
}

// afterSentinel returns the frames from the innermost sentinel on. The frames inside it differ from crash to crash.
func (r *Rules) afterSentinel(frames []Frame) []Frame {
	for i := range frames {
		if _, found := starts(r.sentinel, Method(frames[i].Method)); found && !frames[i].Unread {
			return frames[i:]
		}
	}
	return frames
}
