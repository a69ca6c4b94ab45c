// Package signature identifies what is wrong with a process across dumps. It does not find what is wrong; see packages
// crash and triage.
//
// A signature is 16 hexadecimal digits: the start of a SHA-256 of names, without addresses. The same crash in another
// process, or after a restart, has the same signature. So has another version of the program if the names are the same.
//
// Start with Crash (crash.go), Finding (finding.go) and Rules (rules.go).
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

// sign returns the signature of parts. It is weak unless sound is set.
func sign(of string, version int, parts []string, sound bool) answer.Identity {
	out := answer.Identity{Signature: Of(append([]string{of, strconv.Itoa(version)}, parts...)...), SignatureVersion: version, SignatureParts: parts}
	out.SignatureStrength = answer.SignatureWeak
	if sound {
		out.SignatureStrength = answer.SignatureStrong
	}
	return out
}

// Suspect returns the signature of a large holder of memory, and the owner that keeps it alive: a service, a static
// field or another root. The signature consists of the kind, the types and the owner; objects between them differ from
// dump to dump.
//
// It is weak if a type is unreadable, or if the owner is unknown, unverified, or in a class library, where fields
// change between versions.
func Suspect(x *answer.Suspect) (id answer.Identity, kept string) {
	parts, sound := []string{string(x.Kind)}, true
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

// withoutOffset returns a code position without its offset.
func withoutOffset(s string) string {
	if i := strings.LastIndex(s, "+0x"); i > 0 {
		return s[:i]
	}
	return s
}

// services begins the names of the types with which a service provider keeps its services.
const services = "Microsoft.Extensions.DependencyInjection."

// service returns the service of a service provider on a path, the last one, or "": the object in a call site's value, or
// in the services of a scope. Which of these leads to it differs from dump to dump.
func service(p *answer.RootPath) (name string) {
	within := false
	for i := range p.Objects {
		typ := p.Objects[i].Type
		switch {
		case typ.Err != nil:
			return ""
		case strings.HasPrefix(typ.S, services):
			within = true
		case within && !strings.HasPrefix(typ.S, "System."):
			name, within = "service "+typ.S, false
		}
	}
	return name
}

// root returns the start of a path: a service, a static field, a method of a frame, or else the kind of the root. What
// leads to a service provider does not matter.
func root(p *answer.RootPath) string {
	if s := service(p); s != "" {
		return s
	}
	static := staticOf(p)
	if strings.HasPrefix(static, "thread static ") {
		return static
	}
	if static != "" {
		return "static " + static
	}
	switch {
	case p.Method.Err == nil && p.Method.S != "":
		return withoutOffset(p.Method.S)
	case p.Root.Kind == answer.RootHandle && p.Root.Handle != "":
		return p.Root.Handle + " handle"
	case p.Root.Kind == "":
		return p.Root.Name
	}
	return string(p.Root.Kind)
}

// staticOf returns the static field at the start of a path, or "".
func staticOf(p *answer.RootPath) string {
	for _, step := range p.Objects {
		if step.Edge != nil && step.Edge.Kind == answer.EdgeStatic && step.Edge.Name.Err == nil {
			return strings.TrimPrefix(step.Edge.Name.S, "static ")
		}
	}
	if strings.Contains(string(p.Root.Kind), "static") {
		name, _, _ := strings.Cut(p.Root.Name, " of thread ")
		return strings.TrimPrefix(name, "static ")
	}
	return ""
}
