package signature

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// CrashVersion is the version of the algorithm for crash signatures. Signatures of different versions are not
// comparable.
const CrashVersion = 3

const (
	// defaultFrames is how many frames a crash signature has, unless the rules set another number.
	defaultFrames = 5
	// overflowRepeat is how often a sequence of calls must repeat in an overflowed stack. The position of its end is
	// chance.
	overflowRepeat = 100
	// recordFrames is the maximum number of frames of a Record.
	recordFrames = 256
)

// A CrashID identifies a crash across dumps.
type CrashID struct {
	answer.Identity
	Frame string // where the process died: the program's first frame, else the innermost
}

// A Record is the input of a crash signature, independent of rules. It has no addresses.
type Record struct {
	Kind      string  // the exception with its causes, or the signal
	Sound     bool    // Kind is complete
	Thrown    bool    // an exception was thrown: a code position is the common throw function's
	Frames    []Frame // innermost first; for an overflowed stack the repeated calls by name
	Cut       bool    // the trace is incomplete
	Died      []Frame // for an overflowed stack: the frames from the innermost to the repeated calls
	Places    []Place // without known methods: positions in builds of modules, innermost first
	Certain   bool    // no module file could replace Places by methods
	Generated string  // without a place: the module that called generated code, or a description
}

// A Frame is a called method.
type Frame struct {
	Method string // its definition, if Unread; empty if that is unknown too
	Unread bool   // its name is unreadable or guessed
}

// A Place is a position in the build of a module.
type Place struct {
	Module, Build string
	Offset        uint64
}

// Crash identifies a crash by the type of its exception, or the signal, and the innermost methods of the program. nil
// rules are the default. Definitions of types and methods replace unreadable names. Without known methods, positions in
// the builds of modules replace them.
func Crash(c *answer.Crash, rules *Rules) CrashID {
	rec := RecordOf(c)
	id := CrashID{Identity: rec.Sign(rules), Frame: rec.frame(rules)}
	if id.Frame == "" && len(c.Contexts) > 0 {
		id.Frame = c.Contexts[0].Where
	}
	return id
}

// RecordOf returns the input of a crash's signature.
func RecordOf(c *answer.Crash) Record {
	var rec Record
	rec.Kind, rec.Sound = crashKind(c)
	rec.Thrown = len(c.Exceptions) > 0
	if c.FailFast == nil && rec.Thrown { // the exception passed to FailFast may come from elsewhere
		frames := c.Exceptions[0].Frames
		for i := range frames[:min(len(frames), recordFrames)] {
			name := frames[i].Function
			if _, method, found := strings.Cut(name.S, "!"); found {
				name.S = method
			}
			rec.Frames = append(rec.Frames, frameOf(name, frames[i].Definition))
		}
		rec.Cut = c.Exceptions[0].TraceError != nil
	}
	if len(rec.Frames) == 0 {
		rec.onStack(c)
	}
	rec.places(c)
	return rec
}

func frameOf(name answer.Text, d *answer.Definition) Frame {
	switch {
	case name.Err == nil && name.S != "":
		return Frame{Method: name.S}
	case d != nil:
		return Frame{Method: d.String(), Unread: true}
	}
	return Frame{Unread: true}
}

// onStack adds the managed methods on the stack of the thread that died. For an overflowed stack it adds only the
// methods of the repeated calls, sorted by name.
func (rec *Record) onStack(c *answer.Crash) {
	if c.StacksOnly {
		return
	}
	for i := range c.Stack {
		if n := c.Stack[i].Cycle; c.Stack[i].Repeat >= overflowRepeat {
			end := min(len(c.Stack), i+max(n, 1), recordFrames)
			for k := range c.Stack[:end] {
				rec.Died = append(rec.Died, frameOf(c.Stack[k].Method, c.Stack[k].Definition))
			}
			rec.Frames = slices.Clone(rec.Died[min(i, end):])
			slices.SortStableFunc(rec.Frames, func(a, b Frame) int { return cmp.Compare(a.Method, b.Method) })
			return
		}
	}
	for i := range c.Stack {
		f := &c.Stack[i]
		if f.Place != nil || strings.HasPrefix(f.Method.S, "[") { // native code, and frames of the runtime
			continue
		}
		if len(rec.Frames) == recordFrames {
			return
		}
		rec.Frames = append(rec.Frames, frameOf(f.Method, f.Definition))
		if f.Guess != "" {
			rec.Frames = append(rec.Frames, Frame{Unread: true}) // frames between may be missing
		}
	}
}

// Sign returns the signature by rules. nil rules are the default.
func (rec *Record) Sign(rules *Rules) answer.Identity {
	if rules == nil {
		rules = defaultRules()
	}
	t := trail{rules: rules, unread: rec.Cut}
	for _, f := range rules.afterSentinel(rec.Frames) {
		t.add(f)
	}
	frames, sound := t.own, rec.Sound
	if len(frames) == 0 { // the class library's own methods change with its versions
		frames, sound = t.library, false
	}
	if t.unread {
		sound = false
	}
	if len(frames) == 0 {
		frames, sound = rec.signPlaces(rules)
		sound = sound && !rec.Thrown
	}
	id := sign("crash", CrashVersion, append([]string{rec.Kind}, frames...), sound)
	id.SignatureRules = rules.hash
	return id
}

// frame returns where the process died.
func (rec *Record) frame(rules *Rules) string {
	if rules == nil {
		rules = defaultRules()
	}
	frames := rec.Frames
	if len(rec.Died) > 0 {
		frames = rec.Died
	}
	t := trail{rules: rules}
	for _, f := range frames {
		t.add(f)
	}
	return t.frame
}

// A trail is the methods in which a process died.
type trail struct {
	rules        *Rules
	own, library []string // methods of the program, and other relevant ones, innermost first
	frame        string   // the innermost method of the program, else the innermost, as in answers
	unread       bool     // an unreadable frame before the last of own: with its name the signature differs
}

// add adds the next frame outwards.
func (t *trail) add(f Frame) {
	if len(t.own) == t.rules.frames {
		return
	}
	name := f.Method // a definition starts with the module's name, as most names do
	if !f.Unread {
		name = Method(name)
	} else if t.unread = true; name == "" {
		return
	}
	switch {
	case t.rules.irrelevantFrame(f.Method):
		t.frame = cmp.Or(t.frame, withoutOffset(f.Method))
	case t.rules.libraryFrame(name):
		t.frame = cmp.Or(t.frame, withoutOffset(f.Method))
		name = t.rules.stripped(name)
		if n := len(t.library); n < t.rules.frames && (n == 0 || t.library[n-1] != name) {
			t.library = append(t.library, name)
		}
	default:
		if len(t.own) == 0 {
			t.frame = withoutOffset(f.Method)
		}
		name = t.rules.stripped(name)
		if n := len(t.own); n == 0 || t.own[n-1] != name { // the depth of a recursion is chance
			t.own = append(t.own, name)
		}
	}
}

// wrappers are exceptions that are thrown in place of others, which describe the failure.
var wrappers = [...]string{"System.AggregateException", "System.Reflection.TargetInvocationException", "System.TypeInitializationException"}

// crashKind describes what ended a process, equally on all systems. sound is false if it can't be read.
func crashKind(c *answer.Crash) (kind string, sound bool) {
	switch {
	case c.FailFast != nil:
		return "fail fast", true
	case len(c.Exceptions) == 0:
		return codeKind(c.Code), c.Code != ""
	}
	t := c.Exceptions[0].Type
	if t.Err != nil || t.S == "" {
		if d := c.Exceptions[0].Definition; d != nil {
			return d.String(), false
		}
		return codeKind(c.Code), false
	}
	kind = withoutGenerics(t.S)
	if !slices.Contains(wrappers[:], kind) {
		return kind, true
	}
	var causes []string
	sound = len(c.Causes) > 0 && len(c.Causes[0]) > 0 && !slices.ContainsFunc(c.Omitted, func(o answer.OmittedCauses) bool { return o.Exception == 0 })
	if len(c.Causes) > 0 {
		for _, i := range c.Causes[0] {
			if i < 0 || i >= len(c.Exceptions) || c.Exceptions[i].Type.Err != nil {
				sound = false
				if i >= 0 && i < len(c.Exceptions) && c.Exceptions[i].Definition != nil {
					causes = append(causes, c.Exceptions[i].Definition.String())
				}
				continue
			}
			causes = append(causes, withoutGenerics(c.Exceptions[i].Type.S))
		}
	}
	slices.Sort(causes) // tasks fail in any order
	return strings.Join(append([]string{kind}, slices.Compact(causes)...), " of "), sound
}

// codeKind returns the kind of a signal or exception code, without how a signal was sent.
func codeKind(code string) string {
	code, _, _ = strings.Cut(code, "/")
	switch strings.ToLower(code) {
	case "sigsegv", "sigbus", "0xc0000005":
		return "access violation"
	case "sigfpe", "0xc0000094", "0xc0000095":
		return "arithmetic error"
	case "sigill", "0xc000001d":
		return "illegal instruction"
	case "sigtrap", "0x80000003":
		return "breakpoint"
	}
	return code
}

// places records where a process died as positions in the builds of modules, from the innermost out. They are certain
// if no module file or symbol could replace them by methods.
func (rec *Record) places(c *answer.Crash) {
	if len(c.Contexts) == 0 || c.Contexts[0].Place == nil {
		for i := range c.Stack {
			if p := c.Stack[i].Place; p != nil { // the faulting code was generated, at a different address in each process
				rec.Generated = placeOf(p).String()
				rec.Places = []Place{placeOf(p)}
				return
			}
		}
		rec.Generated = withoutOffset(c.Where)
		return
	}
	p := c.Contexts[0].Place
	rec.Places = []Place{placeOf(p)}
	rec.Certain = p.Build != "" && (c.StacksOnly || len(c.Stack) == 0 && (c.Unmanaged || len(c.Noted()) == 0))
	if !c.StacksOnly {
		return
	}
	for i := range c.Stack {
		f := &c.Stack[i]
		switch {
		case i == 0 && f.Place != nil && *f.Place == *p:
			continue
		case f.Place == nil || f.Place.Build == "" || f.Guess != "" || len(rec.Places) == recordFrames:
			return
		}
		rec.Places = append(rec.Places, placeOf(f.Place))
	}
}

// signPlaces returns the places of a signature: up to the first one outside of the modules through which every process
// dies.
func (rec *Record) signPlaces(rules *Rules) (out []string, sound bool) {
	if rec.Generated != "" {
		out = []string{rec.Generated}
		if len(rec.Places) > 0 {
			out = append(out, "generated code")
		}
		return out, false
	}
	for i := range rec.Places[:min(len(rec.Places), rules.frames)] {
		if out = append(out, rec.Places[i].String()); !rules.irrelevantModule(rec.Places[i].Module) {
			return out, rec.Certain
		}
	}
	return out, false
}

func placeOf(p *answer.CodePlace) Place { return Place{p.Module, p.Build, uint64(p.Offset)} }

// String names a place. Without the module's build it omits the offset, which is meaningless in another process.
func (p Place) String() string {
	if p.Build == "" {
		return p.Module
	}
	return fmt.Sprintf("%s (%s)+%#x", p.Module, p.Build, p.Offset)
}
