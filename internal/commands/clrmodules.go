package commands

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func assembliesCommand() cli.Command {
	return cli.Command{Name: "assemblies", Aliases: []string{"clrmodules"}, Group: cli.GroupProcess, Summary: "list the managed modules",
		Options: []cli.Option{
			{Name: "name", Aliases: []string{"n"}, Kind: cli.Str, Value: "REGEX", Summary: "only modules whose file name, without folder, matches"},
			{Name: "verbose", Aliases: []string{"v"}, Summary: "print all that is known of each"},
		},
		Result: []report.Part{report.ListOf[assemblyResult]("")}, NeedsDump: true, Run: runAssemblies}
}

// assemblyResult is an item of the JSON result of assemblies.
type assemblyResult struct {
	Module       report.Address `json:"module" doc:"address of the Module"`
	Assembly     report.Address `json:"assembly" doc:"address of the Assembly"`
	Name         string         `json:"name,omitempty" doc:"path of the file; of an assembly loaded from bytes its own name"`
	ImageBase    report.Address `json:"imageBase,omitempty" doc:"where the image lies; absent for a dynamic module"`
	Size         uint64         `json:"size,omitempty" doc:"bytes of the image"`
	PE           bool           `json:"pe" doc:"it has an image"`
	Layout       string         `json:"layout,omitempty" doc:"\"Flat\" as in the file, or \"Mapped\" by section"`
	Dynamic      bool           `json:"dynamic" doc:"made by Reflection.Emit"`
	Metadata     report.Address `json:"metadata,omitempty" doc:"where its metadata lies"`
	MetadataSize uint64         `json:"metadataSize,omitempty" doc:"bytes of metadata"`
	PDB          *pdbResult     `json:"pdb,omitempty" doc:"the symbol file that it names"`
	Version      string         `json:"version,omitempty" doc:"file version"`
}

type pdbResult struct {
	GUID string `json:"guid" doc:"identity of the symbol file"`
	Age  uint32 `json:"age" doc:"its revision"`
	Path string `json:"path" doc:"where the compiler wrote it"`
}

func (p *pdbResult) String() string {
	if p == nil {
		return "<none>"
	}
	return fmt.Sprintf("%s %d %s", p.GUID, p.Age, p.Path)
}

func newPDB(id target.PDBID, err error) *pdbResult {
	if err != nil {
		return nil
	}
	return &pdbResult{GUID: guidText(id.GUID), Age: id.Age, Path: id.Path}
}

// nameFilter is the regular expression of option name, nil without it.
func nameFilter(c *cli.Context) (*regexp.Regexp, error) {
	text, ok := c.Str("name")
	if !ok {
		return nil, nil
	}
	re, err := regexp.Compile("(?i)" + text)
	if err != nil {
		return nil, c.Usagef("-name: %v", err)
	}
	return re, nil
}

// knownModules lists the managed modules; what can't be read is a warning
// unless nothing could.
func knownModules(c *cli.Context, rt *dac.Runtime) ([]*dac.Module, error) {
	mods, err := rt.KnownModules()
	if err != nil && len(mods) == 0 {
		return nil, err
	}
	if err != nil {
		c.Warn(err)
	}
	return mods, nil
}

func runAssemblies(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	filter, err := nameFilter(c)
	if err != nil {
		return err
	}
	mods, err := knownModules(c, rt)
	if err != nil {
		return err
	}
	if c.JSON() != nil {
		if err := c.JSON().List(""); err != nil {
			return err
		}
	}
	verbose := c.Bool("verbose") || c.JSON() != nil
	for _, m := range mods {
		a := newAssembly(c, dumpOf(c), m, verbose)
		if filter != nil && !filter.MatchString(dac.BaseName(a.Name)) {
			continue
		}
		if c.JSON() != nil {
			if err := c.JSON().Item("", a); err != nil {
				return err
			}
			continue
		}
		a.print(c, verbose)
	}
	return nil
}

func newAssembly(c *cli.Context, d *sosgo.Dump, m *dac.Module, verbose bool) assemblyResult {
	a := assemblyResult{Module: report.Address(m.Addr), Assembly: report.Address(m.Assembly)}
	var err error
	a.Name, err = moduleFile(m)
	a.Name = textOr(c, a.Name, err)
	a.Dynamic, _ = m.IsDynamic() // a layout that can't tell knows no dynamic module
	at, err := m.Image()
	if err != nil {
		c.Warn(err)
	}
	a.ImageBase, a.Size, a.PE = report.Address(at.Start), at.Size(), at.Start != 0
	if verbose {
		a.addDetails(c, d, m)
	}
	return a
}

func (a *assemblyResult) addDetails(c *cli.Context, d *sosgo.Dump, m *dac.Module) {
	if flat, err := m.IsFlat(); err == nil && a.PE {
		a.Layout = [2]string{"Mapped", "Flat"}[trueIndex(flat)]
	}
	if _, err := m.Metadata(); err != nil {
		c.Warn(err)
	} else {
		where := m.MetadataSource()
		a.Metadata, a.MetadataSize = report.Address(where.Addr), where.Size
	}
	if !a.PE {
		return
	}
	img, err := m.PEImage()
	if err == nil {
		a.PDB = newPDB(img.PDB())
	}
	if n, ok := d.NativeModule(m); ok {
		v, err := d.FileVersion(&n)
		if err != nil && !errors.Is(err, target.ErrUnsupported) {
			v = absent(c, err)
		}
		a.Version = v
	}
}

func (a *assemblyResult) print(c *cli.Context, verbose bool) {
	dynamic := [2]string{"", "(Dynamic)"}[trueIndex(a.Dynamic)]
	name := report.Escape(a.Name) + dynamic
	if !verbose {
		c.Printf("%016x %08x %s\n", uint64(a.ImageBase), a.Size, name)
		return
	}
	layout := a.Layout
	if layout == "" {
		layout = "Unknown"
	}
	c.Printf("%s\n", name)
	for _, l := range [][2]string{
		{"AssemblyName:", a.Name},
		{"ImageBase:", report.Hex16(a.ImageBase)},
		{"Size:", fmt.Sprintf("%08x", a.Size)},
		{"ModuleAddress:", report.Hex16(a.Module)},
		{"AssemblyAddress:", report.Hex16(a.Assembly)},
		{"IsPEFile:", yes(a.PE)},
		{"Layout:", layout},
		{"IsDynamic:", yes(a.Dynamic)},
		{"MetadataAddress:", report.Hex16(a.Metadata)},
		{"MetadataSize:", report.Hex16(a.MetadataSize)},
		{"PdbInfo:", a.PDB.String()},
		{"Version:", orNone(a.Version)},
	} {
		c.Printf("    %-16s %s\n", l[0], report.Escape(l[1]))
	}
}
