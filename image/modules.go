package image

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/target"
)

// A Module is an image that was mapped into a process, managed or native.
type Module struct {
	target.Module
	// ImageSize is the size in bytes that debuggers show. For a PE image in an ELF core it is
	// SizeOfImage up to the next mapped file, even for a flat image.
	ImageSize uint64
	// Headless is set if the first bytes of the image are neither in the dump nor in a module file.
	// That it is an image is then known from its name, and its size from its mappings.
	Headless bool
}

// Modules returns the images of a process by address. mem is t's memory or an overlay of it.
func Modules(t target.Target, mem target.Memory) []Module {
	mods := t.Modules()
	next := mappedFiles(t)
	out := make([]Module, len(mods))
	for i, m := range mods {
		headless := !m.Listed && !target.Available(mem, m.Base, 2)
		if !m.Listed && !headless {
			completeModule(t, mem, &m)
		}
		out[i] = Module{Module: m, ImageSize: displaySize(m, next), Headless: headless}
	}
	return out
}

// completeModule sets fields of m from the headers in the module file, if the dump does not have
// them.
func completeModule(t target.Target, mem target.Memory, m *target.Module) {
	if m.SizeOfImage != 0 || target.Available(t, m.Base, 2) {
		return
	}
	im, err := OpenMemory(mem, m)
	switch {
	case err != nil:
	case im.kind == KindPE:
		m.SizeOfImage, m.TimeDateStamp, m.CheckSum = im.pe.sizeOfImage, im.pe.timeDateStamp, im.pe.checkSum
	case im.layout == Loaded:
		m.Size = max(m.Size, im.size)
	}
}

// moduleAt returns the image that contains a. The error is target.ErrNotInDump if no image does.
func moduleAt(t target.Target, mem target.Memory, a target.Addr) (Module, error) {
	for _, m := range Modules(t, mem) {
		if m.Base == a || m.Contains(a) {
			return m, nil
		}
	}
	return Module{}, noImageError(a)
}

// A mappedFile is the start of a region that is mapped from a file.
type mappedFile struct {
	start target.Addr
	path  string
}

func mappedFiles(t target.Target) []mappedFile {
	var out []mappedFile
	for r := range t.Regions() {
		if r.Path != "" && !strings.HasPrefix(r.Path, "/memfd:") {
			out = append(out, mappedFile{r.Start, r.Path})
		}
	}
	return out
}

func displaySize(m target.Module, files []mappedFile) uint64 {
	if m.SizeOfImage == 0 {
		return m.Size
	}
	for _, f := range files {
		if f.start > m.Base && f.path != m.Path {
			return min(uint64(m.SizeOfImage), uint64(f.start-m.Base))
		}
	}
	return uint64(m.SizeOfImage)
}

// fileVersion returns the file version of a module from the dump's module list or from its version
// resource, such as "10.0.1426.52326". For an ELF image it is empty without an error. For a PE
// image without a version it is target.ErrUnsupported.
func fileVersion(mem target.Memory, m *target.Module) (string, error) {
	if v := m.Version; v != [4]uint16{} {
		return dotted(v), nil
	}
	img, err := OpenMemory(mem, m)
	if err != nil || img.Kind() != KindPE {
		return "", err
	}
	info, err := img.VersionInfo()
	if err != nil {
		return "", err
	}
	return dotted(info.File), nil
}

func dotted(v [4]uint16) string { return fmt.Sprintf("%d.%d.%d.%d", v[0], v[1], v[2], v[3]) }

// DescribeVersion is FileVersion for an answer: empty for an image without a version.
func DescribeVersion(gaps *answer.Gaps, mem target.Memory, m *target.Module) answer.Text {
	v, err := fileVersion(mem, m)
	if errors.Is(err, target.ErrUnsupported) {
		return answer.Text{}
	}
	if err != nil {
		err = fmt.Errorf("version of %s: %w", target.BaseName(m.Path), err)
	}
	return gaps.Text(v, err)
}

// DescribePDB returns the PDB that the image names, or nil.
func (im *Image) DescribePDB() (*answer.PDB, error) {
	id, err := im.PDB()
	switch {
	case errors.Is(err, target.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &answer.PDB{GUID: id.GUID.String(), Age: id.Age, Path: id.Path}, nil
}

// ListOptions select the images and the details that List describes.
type ListOptions struct {
	Match    func(name string) bool // if not nil, selects images by the last part of their paths
	At       *target.Addr           `opt:"address,a" help:"only the image that holds this address"`
	Sections bool                   `opt:"segments,s" help:"print the sections or segments of each"`
	Exports  []string               // symbols to look up in each image
}

// List describes the images of a process. Missing parts of a row are recorded in the answer while
// the rows are iterated. mem is t's memory or an overlay of it. If o.At is in no image, the error
// is target.ErrNotInDump.
func List(ctx context.Context, t target.Target, mem target.Memory, o ListOptions) (*answer.Images, error) {
	a := &answer.Images{}
	var chosen []Module
	headless := 0
	for i, m := range Modules(t, mem) {
		a.Total += m.ImageSize
		sos := i - headless
		if m.Headless {
			a.Headless += m.ImageSize
			headless++
		}
		if o.At != nil && !m.Contains(*o.At) || o.Match != nil && !o.Match(target.BaseName(m.Path)) {
			continue
		}
		chosen = append(chosen, m)
		a.List = append(a.List, answer.MappedImage{Index: i, SOSIndex: sos, Address: m.Base, Size: m.ImageSize, Path: m.Path, Headless: m.Headless})
	}
	if o.At != nil && len(chosen) == 0 {
		return nil, noImageError(*o.At)
	}
	a.Images = describeAll(ctx, a, mem, chosen, &o)
	return a, nil
}

func describeAll(ctx context.Context, a *answer.Images, mem target.Memory, modules []Module, o *ListOptions) iter.Seq2[answer.Image, error] {
	return answer.NewRows(&a.Gaps, func(yield func(answer.Image, error) bool) error {
		for i := range modules {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := answer.Image{MappedImage: a.List[i], BuildID: hex.EncodeToString(modules[i].BuildID), BuildIDCut: modules[i].BuildIDCut}
			if img, err := OpenMemory(mem, &modules[i].Module); err != nil {
				a.Note(err)
				row.PE, row.Managed = answer.Missing[bool](err), answer.Missing[bool](err)
			} else {
				describe(&row, img, o)
				row.Version = DescribeVersion(&a.Gaps, mem, &modules[i].Module)
			}
			if !yield(row, nil) {
				break
			}
		}
		return nil
	})
}

func describe(row *answer.Image, img *Image, o *ListOptions) {
	row.PE, row.Managed = answer.Known(img.Kind() == KindPE), answer.Known(false)
	if row.PE.Value {
		if _, err := img.CLRHeader(); !errors.Is(err, target.ErrUnsupported) { // no CLR header
			row.Managed = answer.Of(err == nil, err)
		}
		if flat := img.Layout() == Flat; img.LayoutKnown() {
			row.Flat = &flat
		}
		stamp := answer.Hex(img.TimeDateStamp())
		row.FileSize, row.TimeStamp = img.SizeOfImage(), &stamp
		row.PDB, _ = img.DescribePDB() // optional
	}
	if id, err := img.BuildID(); err == nil {
		row.BuildID, row.BuildIDCut = hex.EncodeToString(id), false
	}
	if text, err := img.VersionString(); err == nil && !row.PE.Value {
		row.Text = text
	}
	for _, name := range o.Exports {
		if rva, _, err := img.Symbol(name); err == nil {
			row.Exports = append(row.Exports, answer.Export{Name: name, Address: row.Address + target.Addr(rva)})
		}
	}
	if !o.Sections {
		return
	}
	for _, s := range img.Sections() {
		row.Sections = append(row.Sections, answer.ImageSection{
			Name: s.Name, Address: answer.Hex(s.RVA), Size: s.Size, Offset: answer.Hex(s.Offset), Access: s.Prot.String()})
	}
}

// SaveFile rebuilds the file of the image that contains a (see Image.Save) and writes it to a new
// file, which appears when it is complete and only the user can read.
func SaveFile(ctx context.Context, t target.Target, mem target.Memory, a target.Addr, name string) (*answer.SavedImage, error) {
	m, err := moduleAt(t, mem, a)
	if err != nil {
		return nil, err
	}
	var saved Saved
	err = outfile.Fill(name, outfile.Options{New: true, Perm: outfile.Private}, func(f *outfile.File) (err error) {
		if saved, err = saveModule(ctx, mem, &m.Module, f); err == nil {
			err = f.Truncate(int64(saved.Size))
		}
		return cmp.Or(machine.Lost(t), err)
	})
	if err != nil {
		return nil, err
	}
	result := &answer.SavedImage{Path: m.Path, File: name, Size: saved.Size, Missing: saved.Missing}
	if saved.Missing > 0 {
		result.Note(fmt.Errorf("%d bytes of %s are zeros in the file: %w", saved.Missing, m.Path, target.ErrNotInDump))
	}
	return result, nil
}

func saveModule(ctx context.Context, mem target.Memory, m *target.Module, w io.WriterAt) (Saved, error) {
	img, err := OpenMemory(mem, m)
	if err != nil {
		return Saved{}, err
	}
	saved, err := img.Save(ctx, w)
	if err != nil {
		err = fmt.Errorf("%s: %w", m.Path, err)
	}
	return saved, err
}

// A noImageError is an address in no image.
type noImageError target.Addr

func (e noImageError) Error() string { return fmt.Sprintf("%016x is in no image", uint64(e)) }

func (noImageError) Unwrap() error { return target.ErrNotInDump }

// Advice returns which command lists the images.
func (noImageError) Advice() string { return "check the address: modules lists the images with theirs" }
