// Package signature names what is wrong with a process in a way that holds across dumps.
//
// A signature is 16 hexadecimal digits: the start of a SHA-256 of names, which have no addresses in them. The same crash in another process,
// or after a restart, has the same one. Another version of the program has it, too, as long as the names stay.
//
// Stability: unstable.
package signature

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// Of returns the signature of names.
func Of(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

// sign returns the signature of parts.
func sign(of string, version int, parts []string, sound bool) answer.Identity {
	out := answer.Identity{Signature: Of(append([]string{of, strconv.Itoa(version)}, parts...)...), SignatureVersion: version, SignatureParts: parts}
	out.SignatureStrength = answer.SignatureWeak
	if sound {
		out.SignatureStrength = answer.SignatureStrong
	}
	return out
}

// Suspect returns the signature of a holder of much memory, and the owner that keeps it alive: a service, a static field or another root. The
// signature is of its kind, its types and that owner; what lies between them differs from dump to dump.
//
// It is weak if a type could not be read, if what keeps it alive is unknown or only looks like a reference, or is of a class library, whose fields
// change with its versions.
func Suspect(x *answer.Suspect) (id answer.Identity, kept string) {
	parts, sound := []string{x.Kind}, true
	add := func(t answer.Text) {
		parts = append(parts, t.S)
		sound = sound && t.Err == nil
	}
	if p := cmp.Or(x.Owner, x.Point); p != nil {
		add(p.Type)
	}
	switch {
	case x.Members != nil:
		add(x.Members.Type)
	case len(x.Targets) > 0:
		add(x.Targets[0].Type)
	}
	path := x.Path
	if path == nil && len(x.Holders) > 0 {
		path = x.Holders[0].Path
	}
	if path != nil {
		kept = root(path)
		sound = sound && !path.Root.Conservative
	}
	owner := strings.TrimPrefix(strings.TrimPrefix(kept, "thread "), "static ")
	sound = sound && kept != "" && (owner == kept || !answer.LibraryMethod(owner))
	return sign("suspect", FindingVersion, append(parts, kept), sound), kept
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
