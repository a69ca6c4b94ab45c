package commands

import (
	"sort"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
)

// TypeNames completes the names of types that the runtime's modules define, in
// any case, at most limit of them in alphabetical order. What can't be read
// completes nothing.
func TypeNames(d cli.Dump, runtime, prefix string, limit int) []string {
	opened, ok := d.(*sosgo.Dump)
	if !ok || limit <= 0 {
		return nil
	}
	v, _ := opened.View(runtime) // it keeps the error
	rt, err := v.Runtime()
	if err != nil {
		return nil
	}
	modules, _ := rt.KnownModules() // as many as there are
	var out []string
	for _, m := range modules {
		md, err := m.Metadata()
		if err != nil {
			continue
		}
		name := []byte(nil)
		for rid := uint32(1); rid <= md.RowCount(metadata.TableTypeDef); rid++ {
			if name, err = md.AppendTypeDefFullName(name[:0], rid); err == nil && hasPrefixFold(name, prefix) {
				out = append(out, string(name))
			}
		}
	}
	sort.Strings(out)
	return out[:min(limit, len(out))]
}

func hasPrefixFold(name []byte, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(string(name[:len(prefix)]), prefix)
}
