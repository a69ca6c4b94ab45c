package processtext

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
)

// Assemblies is the text of assemblies: a line of each, or with verbose all that
// is known.
func Assemblies(p *report.Page, list iter.Seq2[answer.LoadedModule, error], verbose bool) {
	for m := range report.Each(p, list) {
		name := report.Escape(m.Name.String())
		if m.Dynamic {
			name += "(Dynamic)"
		}
		if verbose {
			p.Printf("%s\n", name)
			loadedModule(p, &m)
		} else {
			p.Printf("%s %s %s\n", text.Hex16(m.ImageBase.Maybe), imageSize(&m), name)
		}
	}
}

// imageSize returns the size of an image, or why it is unknown.
func imageSize(m *answer.LoadedModule) string {
	if m.ImageBase.Err != nil {
		return answer.Absent(m.ImageBase.Err)
	}
	return fmt.Sprintf("%08x", m.Size)
}

func loadedModule(p *report.Page, m *answer.LoadedModule) {
	layout, pdb := "Unknown", "<none>"
	if m.Layout != "" {
		layout = m.Layout
	}
	switch {
	case m.PDBErr != nil:
		pdb = answer.Absent(m.PDBErr)
	case m.PDB != nil:
		pdb = fmt.Sprintf("%s %d %s", m.PDB.GUID, m.PDB.Age, m.PDB.Path)
	}
	detail(p, "AssemblyName:", m.Name.String())
	detail(p, "ImageBase:", text.Hex16(m.ImageBase.Maybe))
	detail(p, "Size:", imageSize(m))
	detail(p, "ModuleAddress:", report.Hex16(m.Module))
	detail(p, "AssemblyAddress:", report.Hex16(m.Assembly))
	detail(p, "IsPEFile:", yes(m.PE))
	detail(p, "Layout:", layout)
	detail(p, "IsDynamic:", yes(m.Dynamic))
	at, size := report.Hex16(m.Metadata), report.Hex16(m.MetadataSize)
	if m.MetadataErr != nil && !p.SOS {
		at, size = answer.Absent(m.MetadataErr), answer.Absent(m.MetadataErr)
	}
	detail(p, "MetadataAddress:", at)
	detail(p, "MetadataSize:", size)
	detail(p, "PdbInfo:", pdb)
	detail(p, "Version:", orNone(m.Version.String()))
}
