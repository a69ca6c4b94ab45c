package query

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// registerValue returns a register by its name; is reports whether there is one.
func registerValue(r *target.Registers, name string) (v uint64, known, is bool) {
	switch name { // their roles, on every processor
	case "ip", "pc":
		a, ok := r.IP()
		return uint64(a), ok, true
	case "sp":
		a, ok := r.SP()
		return uint64(a), ok, true
	case "fp":
		a, ok := r.FP()
		return uint64(a), ok, true
	}
	for n := target.Reg(0); n < 1<<6; n++ {
		if s := target.RegName(r.Arch, n); s != "" && strings.EqualFold(s, name) {
			v, known = r.Get(n)
			return v, known, true
		}
	}
	return 0, false, false
}

// pathText returns the first path as one text: the root, then the objects with the fields between them.
func pathText(p *answer.RootPaths) Value {
	if len(p.Paths) == 0 {
		if p.Verdict == "garbage" {
			return null
		}
		return Text("no path found (some roots or references can't be read)")
	}
	var b strings.Builder
	b.WriteString(p.Paths[0].Root.Name)
	for _, step := range p.Paths[0].Objects {
		b.WriteString(" -> ")
		if step.Edge != nil && step.Edge.Name.S != "" {
			b.WriteString(step.Edge.Name.S + " ")
		}
		b.WriteString(step.Type.String() + " " + step.Address.String())
	}
	return Text(b.String())
}
