// Package signature names what is wrong with a process in a way that holds across dumps.
//
// A signature is 16 hexadecimal digits: the start of a SHA-256 of names, which have no addresses in them. The same crash in another process,
// or after a restart, has the same one. Another version of the program has it, too, as long as the names stay.
package signature

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// crashFrames is how many frames of a stack a crash is given by.
const crashFrames = 5

// Of returns the signature of names.
func Of(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

// Crash returns the signature of a crash, and the frame in which the process died: the first of the program itself, or else the innermost.
func Crash(c *answer.Crash) (sig, frame string) {
	kind := c.Code
	if len(c.Exceptions) > 0 && c.Exceptions[0].Type.Err == nil {
		kind = c.Exceptions[0].Type.S
	}
	frames := methods(c)
	frame = top(frames)
	if c.FailFast != nil { // the exception that was passed to it may be from elsewhere
		frame = top(onStack(c))
	}
	parts := append([]string{"crash", kind}, frames[:min(len(frames), crashFrames)]...)
	if places := places(c); len(frames) == 0 && len(places) > 0 {
		parts, frame = append(parts, places...), c.Contexts[0].Where
	} else if len(frames) == 0 && c.Where != "" {
		parts = append(parts, withoutOffset(c.Where))
	}
	return Of(parts...), frame
}

// Suspect returns the signature of a holder of much memory, and the owner that keeps it alive: a service, a static field or another root. The
// signature is of its kind, its types and that owner; what lies between them differs from dump to dump.
func Suspect(x *answer.Suspect) (sig, kept string) {
	var holder, members string
	if p := cmp.Or(x.Owner, x.Point); p != nil && p.Type.Err == nil {
		holder = p.Type.S
	}
	if x.Members != nil && x.Members.Type.Err == nil {
		members = x.Members.Type.S
	}
	parts := []string{"suspect", x.Kind, holder, members}
	if x.Members == nil && len(x.Targets) > 0 && x.Targets[0].Type.Err == nil {
		parts = append(parts, x.Targets[0].Type.S)
	}
	switch {
	case x.Path != nil:
		kept = root(x.Path)
	case len(x.Holders) > 0 && x.Holders[0].Path != nil:
		kept = root(x.Holders[0].Path)
	}
	return Of(append(parts, kept)...), kept
}

// methods returns the methods in which a process died, the innermost first: those of the stack trace of its exception, or of the stack.
func methods(c *answer.Crash) []string {
	var out []string
	if len(c.Exceptions) > 0 {
		for _, f := range c.Exceptions[0].Frames {
			if f.Function.Err == nil && f.Function.S != "" {
				_, method, found := strings.Cut(f.Function.S, "!")
				if !found {
					method = f.Function.S
				}
				out = append(out, withoutOffset(method))
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	return onStack(c)
}

// onStack returns the managed methods on the stack of the thread that died, the innermost first.
func onStack(c *answer.Crash) (out []string) {
	for _, f := range c.Stack {
		if f.Place == nil && !c.StacksOnly && f.Method.Err == nil && f.Method.S != "" && !strings.HasPrefix(f.Method.S, "[") {
			out = append(out, withoutOffset(f.Method.S))
		}
	}
	return out
}

// places returns where a process died if no method is known: the place of the instruction in the build of its module. If it is in code that
// the runtime made, which is elsewhere in each process, the first place of its callers follows.
func places(c *answer.Crash) []string {
	if len(c.Contexts) == 0 {
		return nil
	}
	if p := c.Contexts[0].Place; p != nil {
		return []string{placeName(p)}
	}
	for i := range c.Stack {
		if p := c.Stack[i].Place; p != nil {
			return []string{placeName(p), "generated code"}
		}
	}
	return nil
}

// placeName names a place. Without the build of the module the offset means nothing in another process.
func placeName(p *answer.CodePlace) string {
	if p.Build == "" {
		return p.Module
	}
	return fmt.Sprintf("%s (%s)+%#x", p.Module, p.Build, uint64(p.Offset))
}

// top returns the first frame of the program itself, or else the first.
func top(frames []string) string {
	for _, f := range frames {
		if !strings.HasPrefix(f, "System.") && !strings.HasPrefix(f, "Microsoft.") && !strings.HasPrefix(f, "Internal.") {
			return f
		}
	}
	if len(frames) > 0 {
		return frames[0]
	}
	return ""
}

// withoutOffset returns a place in the code without its offset.
func withoutOffset(s string) string {
	if i := strings.LastIndex(s, "+0x"); i > 0 {
		return s[:i]
	}
	return s
}

// services are the types in which a service provider keeps its services.
const services = "Microsoft.Extensions.DependencyInjection.ServiceLookup."

// service returns the service on a path that a service provider keeps: the object in a call site's value, or in the services of a scope.
func service(p *answer.RootPath) string {
	within := ""
	for i := range p.Objects {
		name := p.Objects[i].Type.S
		switch {
		case p.Objects[i].Type.Err != nil:
			return ""
		case strings.HasPrefix(name, services+"ServiceProviderEngineScope"):
			within = "scoped service "
		case strings.HasPrefix(name, services) && strings.HasSuffix(name, "CallSite"):
			within = "singleton "
		case within != "" && !strings.HasPrefix(name, services) && !strings.HasPrefix(name, "System."):
			return within + name
		}
	}
	return ""
}

// root returns what a path starts with: a service of a service provider, a static field by its name, a method of a frame, else the kind of the
// root. A static field of a class of the program comes before a service.
func root(p *answer.RootPath) string {
	static := staticOf(p)
	if s := service(p); s != "" && (static == "" || answer.LibraryMethod(strings.TrimPrefix(static, "thread static "))) {
		return s
	}
	if strings.HasPrefix(static, "thread static ") {
		return static
	}
	if static != "" {
		return "static " + static
	}
	switch {
	case p.Method.Err == nil && p.Method.S != "":
		return withoutOffset(p.Method.S)
	case p.Root.Kind == "handle" && p.Root.Handle != "":
		return p.Root.Handle + " handle"
	case p.Root.Kind == "":
		return p.Root.Name
	}
	return p.Root.Kind
}

// staticOf returns the static field at the start of a path, empty if there is none.
func staticOf(p *answer.RootPath) string {
	for _, step := range p.Objects {
		if step.Edge != nil && step.Edge.Kind == "static field" && step.Edge.Name.Err == nil {
			return strings.TrimPrefix(step.Edge.Name.S, "static ")
		}
	}
	if strings.Contains(p.Root.Kind, "static") {
		name, _, _ := strings.Cut(p.Root.Name, " of thread ")
		return strings.TrimPrefix(name, "static ")
	}
	return ""
}
