package commands

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func typesCommand() cli.Command {
	return cli.Command{
		Name: "types", Group: cli.GroupTypes,
		Summary: "list the types that are loaded, with their objects counted",
		Help: "A type counts when its name contains the pattern, in any case. Types come by module and token, then arrays and generic\n" +
			"instances. Where the dump has no heap the counts are left out.",
		Options: []cli.Option{
			{Name: "nocount", Kind: cli.Bool, Summary: "do not count objects"},
			{Name: "used", Kind: cli.Bool, Summary: "only types that have objects"},
		},
		Args:      []cli.Arg{{Name: "pattern", Kind: cli.TypeName, Optional: true, Summary: "part of the type's name"}},
		Examples:  []cli.Example{{Line: "types -used Order", Text: "types with Order in their name, with their objects counted"}},
		Result:    []report.Part{report.ListOf[typeItem]("")},
		NeedsDump: true,
		Run:       runTypes,
	}
}

// A typeItem is one loaded type.
type typeItem struct {
	MethodTable report.Address `json:"methodTable" doc:"its MethodTable"`
	Name        string         `json:"name" doc:"its name"`
	BaseSize    uint32         `json:"baseSize" doc:"bytes of an object without its elements"`
	Count       *uint64        `json:"count,omitempty" doc:"objects of exactly this type on the heap"`
	Size        *uint64        `json:"size,omitempty" doc:"their bytes"`
}

// A typePattern chooses types by a part of their name, in any case.
type typePattern string

func patternOf(c *cli.Context) typePattern {
	s, _ := c.Str("pattern")
	return typePattern(strings.ToLower(s))
}

func (p typePattern) match(name string) bool {
	return p == "" || strings.Contains(strings.ToLower(name), string(p))
}

func runTypes(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	counts := countObjects(c)
	table := report.NewTable(c.Out,
		report.Column{Name: "MT", Kind: report.Pointer},
		report.Column{Name: "BaseSize", Kind: report.PlainInteger},
		report.Column{Name: "Count", Kind: report.Integer},
		report.Column{Name: "TotalSize", Kind: report.Integer},
		report.Column{Name: "Class Name", Kind: report.Text})
	if c.JSON() != nil {
		err = c.JSON().List("")
	} else {
		err = table.Header()
	}
	if err != nil {
		return err
	}
	pattern := patternOf(c)
	for mt, err := range rt.LoadedTypes() {
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		if err != nil {
			c.Warn(err)
			continue
		}
		name, err := rt.TypeName(mt.Addr, dac.NameManaged)
		name = textOr(c, name, err)
		n := counts[mt.Addr]
		if !pattern.match(name) || c.Bool("used") && n.Count == 0 {
			continue
		}
		if err := printType(c, table, mt, name, n, counts != nil); err != nil {
			return err
		}
	}
	return nil
}

// countObjects counts the heap's objects by type; it is nil where they are not
// wanted or the heap is not there.
func countObjects(c *cli.Context) map[target.Addr]heap.TypeStats {
	if c.Bool("nocount") {
		return nil
	}
	h, err := heapOf(c)
	if err != nil {
		c.Warn(err)
		return nil
	}
	progress := c.Progress("counting objects")
	defer progress.Done()
	stats, err := h.Stats(c.Context(), &heap.Filter{}, heap.ScanOptions{Jobs: c.Jobs, Progress: progress.Set})
	if err != nil {
		c.Warn(err)
		return nil
	}
	counts := make(map[target.Addr]heap.TypeStats, len(stats.Types))
	for _, t := range stats.Types {
		counts[t.Type.Addr] = t
	}
	return counts
}

func printType(c *cli.Context, table *report.Table, mt *dac.MethodTable, name string, n heap.TypeStats, counted bool) error {
	if c.JSON() != nil {
		item := typeItem{MethodTable: report.Address(mt.Addr), Name: name, BaseSize: mt.BaseSize}
		if counted {
			item.Count, item.Size = &n.Count, &n.Size
		}
		return c.JSON().Item("", item)
	}
	if !counted {
		return table.Row(uint64(mt.Addr), mt.BaseSize, nil, nil, name)
	}
	return table.Row(uint64(mt.Addr), mt.BaseSize, n.Count, n.Size, name)
}
