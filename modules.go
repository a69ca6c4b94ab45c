package sosgo

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/diagnosis"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Modules returns the images of the process by address; see image.Modules.
func (d *Dump) Modules() []image.Module { return image.Modules(d.file, d.read) }

// Symbols returns the names of native code in the process.
func (d *Dump) Symbols() *image.Symbols { return image.NewSymbols(d.read, d.file.Modules()) }

// Pack writes a pack of the dump to w: one file with the dump and the files of
// its modules, which Open opens directly; see dump.File.Pack.
func (d *Dump) Pack(ctx context.Context, w io.Writer, progress func(done, total int64)) (*dump.Packed, error) {
	return d.file.Pack(ctx, w, d.findModule, progress)
}

// PackFile writes a pack of the dump to a new file; see dump.File.PackFile.
func (d *Dump) PackFile(ctx context.Context, name string, progress func(done, total int64)) (*answer.Pack, error) {
	return d.file.PackFile(ctx, name, d.findModule, progress)
}

func (d *Dump) findModule(_ context.Context, m *target.Module) (string, error) {
	return d.modulePath(m)
}

// modulePath is the path of a module's file on this machine.
func (d *Dump) modulePath(m *target.Module) (string, error) {
	img, err := d.files.File(m, nil)
	if err != nil {
		return "", err
	}
	return img.Path(), nil
}

// Diagnose looks at everything that can keep sosgo from an answer, with members
// also at every member of the runtime's layout; see diagnosis.Of.
func (v *View) Diagnose(members bool) *answer.Diagnosis {
	d := v.dump
	return diagnosis.Of(diagnosis.Source{
		File: d.file, Runtimes: d.Runtimes(), Chosen: v.inst, Heap: v.Heap, ModuleFile: d.modulePath, MemorySource: d.MemorySource,
		Open:    func(inst *dac.Instance) (*dac.Runtime, error) { return d.viewOf(inst).Runtime() },
		Members: members,
	})
}
