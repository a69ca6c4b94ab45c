package commands

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func modulesCommand() cli.Command {
	return cli.Command{Name: "modules", Aliases: []string{"lm"}, Group: cli.GroupProcess, Summary: "list the images that the process had mapped",
		Options: []cli.Option{
			{Name: "name", Aliases: []string{"n"}, Kind: cli.Str, Value: "REGEX", Summary: "only images whose file name, without folder, matches"},
			{Name: "address", Aliases: []string{"a"}, Kind: cli.Address, Summary: "only the image that holds this address"},
			{Name: "verbose", Aliases: []string{"v"}, Summary: "print all that is known of each"},
			{Name: "segments", Aliases: []string{"s"}, Summary: "print the sections or segments of each"},
		},
		Result: []report.Part{report.ListOf[moduleResult]("modules"), report.FieldOf[uint64]("totalImageSize")}, NeedsDump: true, Run: runModules}
}

// moduleResult is an item of the JSON result of modules.
type moduleResult struct {
	Index     int             `json:"index" doc:"number of the image, by address"`
	Address   report.Address  `json:"address" doc:"where it starts"`
	Size      uint64          `json:"size" doc:"bytes in memory"`
	Path      string          `json:"path" doc:"of its file, as the dump records it"`
	PE        bool            `json:"pe" doc:"a PE image, not an ELF one"`
	Managed   bool            `json:"managed" doc:"a PE image with a CLR header"`
	Flat      *bool           `json:"flat,omitempty" doc:"laid out as in its file"`
	FileSize  uint32          `json:"sizeOfImage,omitempty" doc:"SizeOfImage of a PE image, part of its identity"`
	TimeStamp *report.Address `json:"timeDateStamp,omitempty" doc:"of a PE image, part of its identity"`
	Version   string          `json:"version,omitempty" doc:"file version"`
	Text      string          `json:"versionText,omitempty" doc:"the version that an image of the runtime gives itself"`
	PDB       *pdbResult      `json:"pdb,omitempty" doc:"the symbol file that it names"`
	BuildID   string          `json:"buildId,omitempty" doc:"of an ELF image"`
	Exports   []exportResult  `json:"exports,omitempty" doc:"symbols for debuggers that a runtime exports"`
	Sections  []sectionResult `json:"sections,omitempty" doc:"sections or segments"`
}

type exportResult struct {
	Name    string         `json:"name" doc:"of the symbol"`
	Address report.Address `json:"address,omitempty" doc:"of the symbol; absent if the runtime does not export it"`
}

type sectionResult struct {
	Name    string         `json:"name,omitempty" doc:"of a PE section"`
	Address report.Address `json:"address" doc:"distance from the image's base"`
	Size    uint64         `json:"size" doc:"bytes in memory"`
	Offset  report.Address `json:"offset" doc:"in the file"`
	Access  string         `json:"access" doc:"r, w and x"`
}

func runModules(c *cli.Context) error {
	filter, err := nameFilter(c)
	if err != nil {
		return err
	}
	d := dumpOf(c)
	at, one := c.Addr("address")
	var total uint64
	found := false
	for i, m := range d.Modules() {
		total += m.ImageSize
		if one && !m.Contains(at) || filter != nil && !filter.MatchString(dac.BaseName(m.Path)) {
			continue
		}
		found = true
		if err := showModule(c, d, i, &m); err != nil {
			return err
		}
	}
	switch {
	case one && !found:
		return fmt.Errorf("address 0x%016x is in no image: %w", uint64(at), target.ErrNotInDump)
	case c.JSON() != nil && !found:
		return errors.Join(c.JSON().List("modules"), c.JSON().Field("totalImageSize", total))
	case c.JSON() != nil:
		return c.JSON().Field("totalImageSize", total)
	case !one:
		c.Printf("Total image size: %d\n", total)
	}
	return nil
}

func showModule(c *cli.Context, d *sosgo.Dump, index int, m *sosgo.NativeModule) error {
	r := moduleResult{Index: index, Address: report.Address(m.Base), Size: m.ImageSize, Path: m.Path}
	verbose, segments := c.Bool("verbose") || c.JSON() != nil, c.Bool("segments")
	if verbose || segments {
		img, err := d.Image(m)
		if err != nil {
			c.Warn(err)
		} else {
			r.describe(c, d, m, img)
			r.addSections(img, segments)
		}
	}
	if c.JSON() != nil {
		return c.JSON().Item("modules", r)
	}
	if !verbose {
		c.Printf("%016x %08x %s\n", uint64(r.Address), r.Size, report.Escape(r.Path))
	} else {
		r.print(c)
	}
	for _, s := range r.Sections {
		c.Printf("        Segment: %016x %016x %016x %-3s %s\n", uint64(s.Address), s.Size, uint64(s.Offset), s.Access, report.Escape(s.Name))
	}
	return nil
}

func (r *moduleResult) describe(c *cli.Context, d *sosgo.Dump, m *sosgo.NativeModule, img *image.Image) {
	r.PE = img.Kind() == image.KindPE
	if r.PE {
		_, err := img.CLRHeader()
		r.Managed = err == nil
		flat := img.Layout() == image.Flat
		stamp := report.Address(img.TimeDateStamp())
		r.Flat, r.FileSize, r.TimeStamp = &flat, img.SizeOfImage(), &stamp
		r.PDB = newPDB(img.PDB())
	}
	if id, err := img.BuildID(); err == nil {
		r.BuildID = hex.EncodeToString(id)
	}
	v, err := d.FileVersion(m)
	if err != nil && !errors.Is(err, target.ErrUnsupported) {
		v = absent(c, err)
	}
	r.Version = v
	if text, err := img.VersionString(); err == nil && !r.PE {
		r.Text = text
	}
	r.Exports = runtimeExports(img, m.Base, false)
}

// runtimeExports are the symbols for debuggers that img exports, or all of
// them, with 0 for those that it does not.
func runtimeExports(img *image.Image, base target.Addr, all bool) []exportResult {
	var out []exportResult
	for _, name := range dac.ExportedSymbols() {
		rva, _, err := img.Symbol(name)
		if err == nil {
			out = append(out, exportResult{name, report.Address(base + target.Addr(rva))})
		} else if all {
			out = append(out, exportResult{Name: name})
		}
	}
	return out
}

func (r *moduleResult) addSections(img *image.Image, wanted bool) {
	if !wanted {
		return
	}
	for _, s := range img.Sections() {
		r.Sections = append(r.Sections, sectionResult{s.Name, report.Address(s.RVA), s.Size, report.Address(s.Offset), s.Prot.String()})
	}
}

func (r *moduleResult) print(c *cli.Context) {
	c.Printf("%d %s\n", r.Index, report.Escape(r.Path))
	flat, size, stamp := "<unknown>", "<none>", "<none>"
	if r.Flat != nil {
		flat, size, stamp = yes(*r.Flat), fmt.Sprintf("%08x", r.FileSize), fmt.Sprintf("%08x", uint64(*r.TimeStamp))
	}
	line := func(label, text string) { c.Printf("    %-16s %s\n", label, report.Escape(text)) }
	line("Address:", report.Hex16(r.Address))
	line("ImageSize:", fmt.Sprintf("%08x", r.Size))
	line("IsPEImage:", yes(r.PE))
	line("IsManaged:", yes(r.Managed))
	line("IsFileLayout:", flat)
	line("IndexFileSize:", size)
	line("IndexTimeStamp:", stamp)
	line("Version:", orNone(r.Version))
	if r.Text != "" {
		line("", r.Text)
	}
	if r.PDB != nil {
		// SOS says of the record, not of the file, that it is portable.
		line("PdbInfo:", fmt.Sprintf("%s %d %s%s", r.PDB.GUID, r.PDB.Age, [2]string{"", "(portable) "}[trueIndex(r.Managed)], r.PDB.Path))
	}
	line("BuildId:", orNone(r.BuildID))
	if len(r.Exports) > 0 {
		printExports(c, r.Exports)
	}
}

func printExports(c *cli.Context, exports []exportResult) {
	c.Printf("    Exports:\n")
	for _, e := range exports {
		at := "<NO SYMBOL>"
		if e.Address != 0 {
			at = report.Hex16(e.Address)
		}
		c.Printf("        %s: %s\n", e.Name, at)
	}
}
