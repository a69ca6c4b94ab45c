package typetext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// LoadContexts is the text of contexts.
func LoadContexts(p *report.Page, a *answer.LoadContexts) {
	unloading := 0
	for i := range a.Contexts {
		c := &a.Contexts[i]
		loadContext(p, c)
		if c.State.S == answer.ContextUnloading {
			unloading++
			blockers(p, c)
		}
	}
	p.Printf("%s, %d unloading\n", report.Count(uint64(len(a.Contexts)), "context", "contexts"), unloading)
}

func loadContext(p *report.Page, c *answer.AssemblyContext) {
	name := c.Name.String()
	switch {
	case c.Default:
		name = "the default context"
	case c.Name.Err == nil:
		name = answer.Quote(c.Name.S)
	}
	parts := []string{report.Escape(name)}
	if c.Address != 0 {
		parts = append(parts, report.Hex12(c.Address))
	}
	parts = append(parts, c.State.String())
	if c.Collectible.Value {
		parts = append(parts, "collectible")
	}
	if c.Keeper != 0 {
		parts = append(parts, "LoaderAllocator "+report.Hex12(c.Keeper))
	}
	p.Printf("%s: %s\n", strings.Join(parts, ", "), report.Count(uint64(len(c.Assemblies)), "assembly", "assemblies"))
	for _, m := range c.Assemblies {
		name := report.Escape(m.Name.String())
		if name == "" {
			name = "(made at run time)"
		}
		p.Printf("    %s %s\n", report.Hex12(m.Module), name)
	}
}

// blockers writes what keeps a context that is unloading.
func blockers(p *report.Page, c *answer.AssemblyContext) {
	if len(c.Blockers) > 0 {
		p.Print("  kept by:\n")
	}
	if c.Conclusion != nil {
		p.Printf("  %s\n", report.Escape(c.Conclusion.Text))
	}
	for i := range c.Blockers {
		b := &c.Blockers[i]
		times := ""
		if b.Times > 1 {
			times = fmt.Sprintf(", and %d more places of the frame", b.Times-1)
		}
		p.Printf("    %s (%s%s)\n", report.Escape(b.Text), b.Strength, times)
		if b.Path != nil && len(b.Path.Objects) > 1 {
			p.Printf("        %s\n", report.Escape(way(b.Path)))
		}
	}
	if c.More {
		p.Print("    there may be more\n")
	}
}

// wayObjects is how many objects of a path are written: the first and the last ones.
const wayObjects = 8

// way returns the types of the objects of a path.
func way(path *answer.RootPath) string {
	list := path.Objects
	var parts []string
	for i := range list {
		if len(list) > wayObjects && i == wayObjects/2 {
			parts = append(parts, fmt.Sprintf("… %d more", len(list)-wayObjects))
		}
		if len(list) > wayObjects && i >= wayObjects/2 && i < len(list)-wayObjects/2 {
			continue
		}
		s := &list[i]
		edge := ""
		if s.Edge != nil && i > 0 {
			edge = s.Edge.Name.String() + " "
		}
		parts = append(parts, edge+s.Type.String())
	}
	return strings.Join(parts, " -> ")
}
