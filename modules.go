package sosgo

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/diagnosis"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// A NativeModule is an image that was mapped into the process, managed or not.
type NativeModule struct {
	target.Module
	// ImageSize is the size in bytes that debuggers show: of a PE image in an
	// ELF core its SizeOfImage, up to where the next file is mapped, even where
	// the image lies flat.
	ImageSize uint64
}

// Modules returns the images of the process by address. Those whose first
// bytes are not to be had, neither from the dump nor from a file, are left out.
func (d *Dump) Modules() []NativeModule {
	mods := d.file.Modules()
	next := d.mappedFiles()
	out := make([]NativeModule, 0, len(mods))
	for _, m := range mods {
		if d.file.Platform().OS != target.OSWindows && !target.Available(d.mem, m.Base, 2) {
			continue
		}
		out = append(out, NativeModule{Module: m, ImageSize: imageSize(m, next)})
	}
	return out
}

// A mappedFile is the start of a region that is mapped from a file.
type mappedFile struct {
	start target.Addr
	path  string
}

func (d *Dump) mappedFiles() []mappedFile {
	var out []mappedFile
	for r := range d.file.Regions() {
		if r.Path != "" && !strings.HasPrefix(r.Path, "/memfd:") {
			out = append(out, mappedFile{r.Start, r.Path})
		}
	}
	return out
}

func imageSize(m target.Module, files []mappedFile) uint64 {
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

// Image opens the image of m in the process's memory, completed by its file.
func (d *Dump) Image(m *NativeModule) (*image.Image, error) {
	return image.OpenMemory(d.read, &m.Module)
}

// SaveImage rebuilds the file of m from the process's memory; see
// image.Image.Save.
func (d *Dump) SaveImage(ctx context.Context, w io.WriterAt, m *NativeModule) (image.Saved, error) {
	img, err := d.Image(m)
	if err != nil {
		return image.Saved{}, err
	}
	saved, err := img.Save(ctx, w)
	if err != nil {
		err = fmt.Errorf("%s: %w", m.Path, err)
	}
	return saved, err
}

// Symbols returns the names of native code in the process.
func (d *Dump) Symbols() *image.Symbols { return image.NewSymbols(d.read, d.file.Modules()) }

// Pack writes a pack of the dump to w: one file with the dump and the files of
// its modules, which Open opens directly; see dump.File.Pack.
func (d *Dump) Pack(ctx context.Context, w io.Writer, progress func(done, total int64)) (*dump.Packed, error) {
	return d.file.Pack(ctx, w, func(_ context.Context, m *target.Module) (string, error) { return d.modulePath(m) }, progress)
}

// modulePath is the path of a module's file on this machine.
func (d *Dump) modulePath(m *target.Module) (string, error) {
	img, err := d.files.File(m, nil)
	if err != nil {
		return "", err
	}
	return img.Path(), nil
}

// Diagnose looks at everything that can keep sosgo from an answer; see
// diagnosis.Of.
func (v *View) Diagnose() *diagnosis.Diagnosis {
	d := v.dump
	return diagnosis.Of(diagnosis.Source{
		File: d.file, Runtimes: d.Runtimes(), Chosen: v.inst, Heap: v.Heap, ModuleFile: d.modulePath, MemorySource: d.MemorySource,
		Open: func(inst *dac.Instance) (*dac.Runtime, error) { return d.viewOf(inst).Runtime() },
	})
}

// FileVersion is the file version of a module as its version resource or the
// dump's module list has it, "10.0.1426.52326". It is empty, without an error,
// for an image that has none.
func (d *Dump) FileVersion(m *NativeModule) (string, error) {
	if v := m.Version; v != [4]uint16{} {
		return dotted(v), nil
	}
	img, err := d.Image(m)
	if err != nil || img.Kind() != image.KindPE {
		return "", err
	}
	info, err := img.VersionInfo()
	if err != nil {
		return "", err
	}
	return dotted(info.File), nil
}

func dotted(v [4]uint16) string { return fmt.Sprintf("%d.%d.%d.%d", v[0], v[1], v[2], v[3]) }

// NativeModule returns the image whose memory holds the managed module m, and
// whether the dump lists one.
func (d *Dump) NativeModule(m *dac.Module) (NativeModule, bool) {
	at, err := m.Image()
	if err != nil || at.Start == 0 {
		return NativeModule{}, false
	}
	for _, n := range d.file.Modules() {
		if n.Base == at.Start {
			return NativeModule{Module: n, ImageSize: imageSize(n, d.mappedFiles())}, true
		}
	}
	return NativeModule{}, false
}
