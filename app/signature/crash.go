package signature

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// CrashVersion is the version of the algorithm that makes the signatures of crashes. Signatures of different versions are not comparable.
const CrashVersion = 3

const (
	// defaultFrames is how many frames of a stack a crash is known by, if the rules don't give another number.
	defaultFrames = 5
	// overflowRepeat is how often a circle of calls repeats itself in a stack that overflowed. Where in the circle it ended is chance.
	overflowRepeat = 100
	// recordFrames is how many frames a Record has at most.
	recordFrames = 256
)

// A CrashID identifies a crash across dumps.
type CrashID struct {
	answer.Identity
	Frame string // where the process died: the first frame of the program itself, or else the innermost
}

// A Record is what the signature of a crash is made from, by any rules. It has no addresses.
type Record struct {
	Kind      string  // the exception with its causes, or the signal
	Sound     bool    // Kind could be read
	Thrown    bool    // an exception was thrown: a place in the code is that of the function that raises all of them
	Frames    []Frame // the innermost first; of a stack that overflowed the circle of calls, by name
	Cut       bool    // the trace could not be read whole
	Died      []Frame // of a stack that overflowed: those from the innermost to the circle
	Places    []Place // where no method is known: places in builds of modules, the innermost first
	Certain   bool    // no module file could put methods in the place of these
	Generated string  // the module that called code which the runtime made, or words for the place, if there is no place
}

// A Frame is a method that was called.
type Frame struct {
	Method string // its definition, if Unread; empty if that is unknown, too
	Unread bool   // it has no name that can be read, or is a guess
}

// A Place is a place in the build of a module.
type Place struct {
	Module, Build string
	Offset        uint64
}

// Crash identifies a crash by rules, which are the default if nil: by the type of its exception, or the signal, and the innermost methods of the program
// itself. The definitions of types and methods stand for names that can't be read. Where no method is known, the places of the instructions in the builds of their modules stand for them.
func Crash(c *answer.Crash, rules *Rules) CrashID {
	rec := RecordOf(c)
	id := CrashID{Identity: rec.Sign(rules), Frame: rec.frame(rules)}
	if id.Frame == "" && len(c.Contexts) > 0 {
		id.Frame = c.Contexts[0].Where
	}
	return id
}

// RecordOf returns what the signature of a crash is made from.
func RecordOf(c *answer.Crash) Record {
	var rec Record
	rec.Kind, rec.Sound = crashKind(c)
	rec.Thrown = len(c.Exceptions) > 0
	if c.FailFast == nil && rec.Thrown { // the exception that was passed to FailFast may be from elsewhere
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

// onStack adds the managed methods on the stack of the thread that died. Of a stack that overflowed it adds the methods of the circle alone, in
// the order of their names.
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
			rec.Frames = append(rec.Frames, Frame{Unread: true}) // what is between may be missing
		}
	}
}

// Sign returns the signature by rules, which are the default if nil.
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
	own, library []string // of the program itself, and of others that are relevant, the innermost first
	frame        string   // the innermost method of the program itself, or else the innermost, as answers have it
	unread       bool     // a frame before the last of own has no name that can be read: with names the signature is another
}

// add adds the next frame outwards.
func (t *trail) add(f Frame) {
	if len(t.own) == t.rules.frames {
		return
	}
	name := f.Method // a definition starts with the module's name, as most names in it do
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
		if n := len(t.own); n == 0 || t.own[n-1] != name { // a recursion is as deep as it happens to be
			t.own = append(t.own, name)
		}
	}
}

// wrappers are exceptions that are thrown in place of others, which say what happened.
var wrappers = [...]string{"System.AggregateException", "System.Reflection.TargetInvocationException", "System.TypeInitializationException"}

// crashKind returns what ended a process in the same words on all systems. It is not sound if it can't be read.
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

// codeKind returns the kind of a signal or exception code. How a signal was sent does not belong to it.
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

// places records where a process died: the places of the instructions in the builds of their modules, from the innermost out. They are certain if no
// module file and no symbol could put methods in their place.
func (rec *Record) places(c *answer.Crash) {
	if len(c.Contexts) == 0 || c.Contexts[0].Place == nil {
		for i := range c.Stack {
			if p := c.Stack[i].Place; p != nil { // the code that faulted was made by the runtime, and is elsewhere in each process
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

// signPlaces returns the places of a signature: those up to the first outside of modules through which every process dies.
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

// String names a place. Without the build of the module the offset means nothing in another process.
func (p Place) String() string {
	if p.Build == "" {
		return p.Module
	}
	return fmt.Sprintf("%s (%s)+%#x", p.Module, p.Build, p.Offset)
}
