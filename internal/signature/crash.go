package signature

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// CrashVersion is the version of the algorithm that makes the signatures of crashes. Signatures of different versions are not comparable.
const CrashVersion = 2

const (
	// crashFrames is how many frames of a stack a crash is known by.
	crashFrames = 5
	// overflowRepeat is how often a circle of calls repeats itself in a stack that overflowed. Where in the circle it ended is chance.
	overflowRepeat = 100
)

// A CrashID identifies a crash across dumps.
type CrashID struct {
	answer.Identity
	Frame string // where the process died: the first frame of the program itself, or else the innermost
}

// Crash identifies a crash: by the type of its exception, or the signal, and the innermost methods of the program itself. Where no method is known, the
// places of the instructions in the builds of their modules stand for them.
func Crash(c *answer.Crash) CrashID {
	kind, sound := crashKind(c)
	var in trail
	if c.FailFast == nil && len(c.Exceptions) > 0 { // the exception that was passed to FailFast may be from elsewhere
		for i := range c.Exceptions[0].Frames {
			f := &c.Exceptions[0].Frames[i]
			name := f.Function
			if _, method, found := strings.Cut(name.S, "!"); found {
				name.S = method
			}
			in.add(name)
		}
		in.unread = in.unread || c.Exceptions[0].TraceError != nil
	}
	if !in.any {
		in = trail{unread: in.unread}
		onStack(c, &in)
	}
	id := CrashID{Frame: in.frame}
	frames := in.own
	if len(frames) == 0 { // the class library's own methods change with its versions
		frames, sound = in.library, false
	}
	if in.unread {
		sound = false
	}
	if len(frames) == 0 {
		frames, sound = places(c)
		if len(c.Exceptions) > 0 { // the place is that of a function that raises all exceptions
			sound = false
		}
		if id.Frame == "" && len(c.Contexts) > 0 {
			id.Frame = c.Contexts[0].Where
		}
	}
	id.Identity = sign("crash", CrashVersion, append([]string{kind}, frames...), sound)
	return id
}

// A trail is the methods in which a process died.
type trail struct {
	own, library []string // at most crashFrames of the program itself, and of others that are relevant, the innermost first
	frame        string   // the innermost method of the program itself, or else the innermost, as answers have it
	any          bool     // there are frames
	unread       bool     // a frame before the last of own has no name that can be read
}

// add adds the next frame outwards.
func (t *trail) add(method answer.Text) {
	if len(t.own) == crashFrames {
		return
	}
	t.any = true
	if method.Err != nil || method.S == "" {
		t.unread = true
		return
	}
	name := Method(method.S)
	switch {
	case irrelevantFrame(method.S):
		t.frame = cmp.Or(t.frame, withoutOffset(method.S))
	case libraryFrame(name):
		t.frame = cmp.Or(t.frame, withoutOffset(method.S))
		if n := len(t.library); n < crashFrames && (n == 0 || t.library[n-1] != name) {
			t.library = append(t.library, name)
		}
	default:
		if len(t.own) == 0 {
			t.frame = withoutOffset(method.S)
		}
		if n := len(t.own); n == 0 || t.own[n-1] != name { // a recursion is as deep as it happens to be
			t.own = append(t.own, name)
		}
	}
}

// libraryFrame reports whether a method is no part of the program itself.
func libraryFrame(name string) bool {
	return answer.LibraryMethod(name) || strings.HasPrefix(name, "Microsoft.") || strings.HasPrefix(name, "Internal.")
}

// onStack adds the managed methods on the stack of the thread that died. Of a stack that overflowed it adds the methods of the circle alone, in
// the order of their names.
func onStack(c *answer.Crash, to *trail) {
	if c.StacksOnly {
		return
	}
	for i := range c.Stack {
		if n := c.Stack[i].Cycle; c.Stack[i].Repeat >= overflowRepeat {
			end := min(len(c.Stack), i+max(n, 1))
			circle := slices.Clone(c.Stack[i:end])
			var died trail
			for k := range c.Stack[:end] {
				died.add(c.Stack[k].Method)
			}
			slices.SortStableFunc(circle, func(a, b answer.CrashFrame) int { return cmp.Compare(a.Method.S, b.Method.S) })
			for k := range circle {
				to.add(circle[k].Method)
			}
			to.frame = died.frame
			return
		}
	}
	for i := range c.Stack {
		f := &c.Stack[i]
		if f.Place != nil || strings.HasPrefix(f.Method.S, "[") { // native code, and frames of the runtime
			continue
		}
		to.add(f.Method)
		if f.Guess != "" && len(to.own) < crashFrames {
			to.unread = true
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

// places returns where a process died if no method is known: the places of the instructions in the builds of their modules, from the innermost up to
// the first outside of modules through which every process dies. They are sound if no module file and no symbol could put methods in their place.
func places(c *answer.Crash) (out []string, sound bool) {
	if len(c.Contexts) == 0 || c.Contexts[0].Place == nil {
		for i := range c.Stack {
			if p := c.Stack[i].Place; p != nil { // the code that faulted was made by the runtime, and is elsewhere in each process
				return []string{placeName(p), "generated code"}, false
			}
		}
		if c.Where != "" {
			return []string{withoutOffset(c.Where)}, false
		}
		return nil, false
	}
	p := c.Contexts[0].Place
	out = append(out, placeName(p))
	sound = p.Build != "" && (c.StacksOnly || len(c.Stack) == 0 && len(c.Noted()) == 0)
	if !irrelevantModule(p.Module) {
		return out, sound
	}
	if c.StacksOnly {
		for i := range c.Stack {
			f := &c.Stack[i]
			switch {
			case i == 0 && f.Place != nil && *f.Place == *p:
				continue
			case f.Place == nil || f.Place.Build == "" || f.Guess != "" || len(out) == crashFrames:
				return out, false
			}
			if out = append(out, placeName(f.Place)); !irrelevantModule(f.Place.Module) {
				return out, sound
			}
		}
	}
	return out, false
}

// placeName names a place. Without the build of the module the offset means nothing in another process.
func placeName(p *answer.CodePlace) string {
	if p.Build == "" {
		return p.Module
	}
	return fmt.Sprintf("%s (%s)+%#x", p.Module, p.Build, uint64(p.Offset))
}
