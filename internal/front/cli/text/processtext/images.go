package processtext

import (
	"cmp"
	"fmt"
	"iter"
	"maps"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// ImagesOptions change the text of modules.
type ImagesOptions struct {
	Verbose  bool // all that is known of each
	Sections bool // the sections or segments of each
	Total    bool // the size of all images at the end
}

// Images is the text of modules.
func Images(p *report.Page, a *answer.Images, o ImagesOptions) {
	if o.Verbose || o.Sections {
		for im := range report.Each(p, a.Images) {
			if p.SOS && im.Headless {
				continue
			}
			image(p, &im, o)
		}
	} else {
		groups := repeatedImages(p, a.List)
		for i := range a.List {
			m := &a.List[i]
			g := groups[m.Path]
			switch {
			case p.SOS && m.Headless, g != nil && g.shown:
			case g == nil:
				imageLine(p, m)
			default:
				g.shown = true
				p.Printf("%s %08x %s (%d mappings up to %s, with their total size)\n", report.Hex16(m.Address), g.size, report.Escape(m.Path), g.count, report.Hex16(g.last))
			}
		}
	}
	switch {
	case o.Total && p.SOS:
		p.Printf("Total image size: %d\n", a.Total-a.Headless)
	case o.Total:
		p.Printf("Total image size: %d\n", a.Total)
	}
}

// fewMappings is how often a file is listed mapping by mapping: an assembly is mapped twice, the code that a runtime
// makes hundreds of times.
const fewMappings = 8

// An imageGroup is a file with more mappings than fewMappings.
type imageGroup struct {
	count int
	size  uint64
	last  target.Addr
	shown bool
}

// repeatedImages groups the images of files that are mapped often. SOS lists each.
func repeatedImages(p *report.Page, list []answer.MappedImage) map[string]*imageGroup {
	groups := map[string]*imageGroup{}
	for i := range list {
		g := groups[list[i].Path]
		if g == nil {
			g = &imageGroup{}
			groups[list[i].Path] = g
		}
		g.count, g.size, g.last = g.count+1, g.size+list[i].Size, max(g.last, list[i].Address)
	}
	maps.DeleteFunc(groups, func(path string, g *imageGroup) bool { return p.SOS || path == "" || g.count <= fewMappings })
	return groups
}

func imageLine(p *report.Page, m *answer.MappedImage) {
	p.Printf("%s %08x %s\n", report.Hex16(m.Address), m.Size, report.Escape(m.Path))
}

func image(p *report.Page, im *answer.Image, o ImagesOptions) {
	if o.Verbose {
		imageDetails(p, im)
	} else {
		imageLine(p, &im.MappedImage)
	}
	for _, s := range im.Sections {
		p.Printf("        Segment: %016x %016x %016x %-3s %s\n", uint64(s.Address), s.Size, uint64(s.Offset), s.Access, report.Escape(s.Name))
	}
}

func imageDetails(p *report.Page, im *answer.Image) {
	index := im.Index
	if p.SOS {
		index = im.SOSIndex
	}
	p.Printf("%d %s\n", index, report.Escape(im.Path))
	none := "<none>"
	if im.PE.Err() != nil && !p.SOS {
		none = answer.Absent(im.PE.Err())
	}
	flat, size, stamp := "<unknown>", none, none
	if im.Flat != nil {
		flat = yes(*im.Flat)
	}
	if im.TimeStamp != nil {
		size, stamp = fmt.Sprintf("%08x", im.FileSize), fmt.Sprintf("%08x", uint64(*im.TimeStamp))
	}
	detail(p, "Address:", report.Hex16(im.Address))
	detail(p, "ImageSize:", fmt.Sprintf("%08x", im.Size))
	detail(p, "IsPEImage:", known(p, im.PE))
	detail(p, "IsManaged:", known(p, im.Managed))
	detail(p, "IsFileLayout:", flat)
	detail(p, "IndexFileSize:", size)
	detail(p, "IndexTimeStamp:", stamp)
	detail(p, "Version:", cmp.Or(im.Version.String(), none))
	if im.Text != "" {
		detail(p, "", im.Text)
	}
	if im.PDB != nil {
		portable := ""
		if im.Managed.Value {
			portable = "(portable) " // SOS says it of the record, not of the file
		}
		detail(p, "PdbInfo:", fmt.Sprintf("%s %d %s%s", im.PDB.GUID, im.PDB.Age, portable, im.PDB.Path))
	}
	id := cmp.Or(im.BuildID, none)
	if im.BuildIDCut {
		id += "… (its beginning)"
	}
	detail(p, "BuildId:", id)
	if len(im.Exports) > 0 {
		exports(p, im.Exports)
	}
}

// detail writes a line about an image.
func detail(p *report.Page, label, value string) {
	p.Printf("    %-16s %s\n", label, report.Escape(value))
}

// yes returns a truth value as SOS's managed commands print it.
func yes(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// SavedImage is the text of savemodule.
func SavedImage(p *report.Page, s *answer.SavedImage) {
	p.Printf("%s: %d bytes written to %s\n", report.Escape(s.Path), s.Size, report.Escape(s.File))
}

// known is yes or no, or the word for why that is not known; SOS takes it for no.
func known(p *report.Page, m answer.Maybe[bool]) string {
	if m.Err() != nil && !p.SOS {
		return answer.Absent(m.Err())
	}
	return yes(m.Value)
}

// Assemblies is the text of assemblies: a line of each, or with verbose all that is known.
func Assemblies(p *report.Page, list iter.Seq2[*answer.LoadedModule, error], verbose bool) {
	if !verbose && list != nil {
		list = withoutDetails(list)
	}
	for m := range report.Each(p, list) {
		name := report.Escape(m.Name.String())
		if m.Dynamic {
			name += "(Dynamic)"
		}
		if verbose {
			p.Printf("%s\n", name)
			loadedModule(p, m)
		} else {
			p.Printf("%s %s %s\n", text.Hex16(m.ImageBase.Maybe), imageSize(m), name)
		}
	}
}

// withoutDetails leaves out what modules lack of their details alone, which the short list does not show.
func withoutDetails(list iter.Seq2[*answer.LoadedModule, error]) iter.Seq2[*answer.LoadedModule, error] {
	return func(yield func(*answer.LoadedModule, error) bool) {
		for m, err := range list {
			if err == nil {
				m = withoutDetail(*m)
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

func withoutDetail(m answer.LoadedModule) *answer.LoadedModule {
	noted := m.Noted()
	m.Gaps = answer.Gaps{}
	for _, n := range noted {
		of := func(e error) bool { return e != nil && e.Error() == n.Error() }
		if !of(m.MetadataErr) && !of(m.PDBErr) && !of(m.Version.Err) {
			m.Note(n)
		}
	}
	return &m
}

// imageSize returns the size of an image, or why it is unknown.
func imageSize(m *answer.LoadedModule) string {
	if m.ImageBase.Err() != nil {
		return answer.Absent(m.ImageBase.Err())
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
