// Package signature names what is wrong with a process in a way that holds across dumps.
//
// A signature is 16 hexadecimal digits: the start of a SHA-256 of names, which have no addresses in them. The same crash in another process,
// or after a restart, has the same one. Another version of the program has it, too, as long as the names stay.
package signature

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// Of returns the signature of names.
func Of(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
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
