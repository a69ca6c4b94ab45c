// Package pack writes a dump and module files as one file that can be sent: the dump as it is, scrubbed, shrunk, or both.
// Start at Write.
package pack

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/export/scrub"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Options configure a pack.
type Options struct {
	Scrub    bool // replace the data of the process, and include no module file except .NET's own
	Numbers  bool // replace numbers that are data of the program, too
	Shrink   bool // leave out what does not help to explain the process
	Progress func(step string) func(done, total uint64)
}

// Write writes a pack of d to a new file, which only the user can read unless it holds the dump as it is. The file
// appears when it is complete, was opened again and has the same threads and objects. An existing file is fs.ErrExist.
func Write(ctx context.Context, d *process.Dump, name string, o Options) (out *answer.Pack, err error) {
	p := &packer{ctx: ctx, d: d, o: o}
	if !o.Scrub && !o.Shrink {
		return d.PackFile(ctx, name, p.progress("packing"))
	}
	if _, err := os.Lstat(name); err == nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	dir, remove, err := outfile.TempDir(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return p.write(dir, name)
}

// A packer writes one pack.
type packer struct {
	ctx      context.Context
	d        *process.Dump
	o        Options
	withheld []string
}

// progress returns the function that shows the progress of a step.
func (p *packer) progress(step string) func(done, total int64) {
	if p.o.Progress == nil {
		return nil
	}
	show := p.o.Progress(step)
	return func(done, total int64) { show(uint64(done), uint64(total)) }
}

// write makes the dumps in dir, and packs the last one.
func (p *packer) write(dir, name string) (out *answer.Pack, err error) {
	var scrubbed *answer.Scrubbed
	var shrunk *answer.Shrunk
	last := p.d
	defer func() {
		if last != p.d {
			err = errors.Join(err, last.Close())
		}
	}()
	if p.o.Scrub {
		if last, err = p.remake(last, filepath.Join(dir, "scrubbed.dmp"), "scrubbing", func(w io.Writer, so scrub.Options) (err error) {
			scrubbed, err = scrub.Write(p.ctx, p.d, w, so)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if p.o.Shrink {
		from := last
		if last, err = p.remake(from, filepath.Join(dir, "shrunk.dmp"), "shrinking", func(w io.Writer, so scrub.Options) (err error) {
			shrunk, err = scrub.Shrink(p.ctx, from, w, so)
			return err
		}); err != nil {
			return nil, err
		}
	}
	// The archive is complete before it has its name.
	archive := filepath.Join(dir, "pack.tar.zst")
	if out, err = last.File().PackFile(p.ctx, archive, p.files, p.progress("packing")); err != nil {
		return nil, err
	}
	out.File, out.Scrubbed, out.Shrunk, out.Withheld = name, scrubbed, shrunk, p.withheld
	out.Others -= len(p.withheld)
	if err := cmp.Or(p.d.Lost(), p.receive(out, archive)); err != nil {
		return nil, err
	}
	if err := os.Link(archive, name); err != nil { // unlike a rename, it replaces no file
		return out, p.move(archive, name, err)
	}
	return out, nil
}

// move gives an archive its name on a file system without links.
func (p *packer) move(archive, name string, cause error) error {
	if errors.Is(cause, fs.ErrExist) {
		return cause
	}
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	return outfile.Failed(os.Rename(archive, name))
}

// remake writes a dump of from to a new file, opens it and compares it with the original dump. It closes from, unless
// that is the original.
func (p *packer) remake(from *process.Dump, file, step string, write func(io.Writer, scrub.Options) error) (*process.Dump, error) {
	so := scrub.Options{Numbers: p.o.Numbers}
	if p.o.Progress != nil {
		so.Progress = p.o.Progress(step)
	}
	if err := outfile.Write(file, outfile.Options{New: true, Checked: true, Perm: outfile.Private}, func(w io.Writer) error { return write(w, so) }); err != nil {
		return from, err
	}
	made, err := p.d.Like(file, scrub.UserFolders(p.d.Target())...)
	if err != nil {
		return from, err
	}
	if err := scrub.Verify(p.ctx, p.d, made); err != nil {
		return from, errors.Join(err, made.Close())
	}
	if from != p.d {
		err = from.Close()
	}
	return made, err
}

// files returns the files of a module that belong into the pack. It is a dump.PackFinder. It finds them for the original
// dump; in the pack they have the path that the new dump has for the module.
func (p *packer) files(ctx context.Context, m *target.Module) ([]dump.PackEntry, error) {
	of := target.ModuleAt(p.d.Target().Modules(), m.Base)
	if of == nil {
		return nil, dump.ErrNotNeeded
	}
	list, err := p.d.PackEntries(ctx, of)
	if err != nil || !p.o.Scrub {
		return list, err
	}
	if len(list) == 0 || !isNET(&list[0]) {
		p.withheld = append(p.withheld, of.Path)
		return nil, dump.ErrNotNeeded
	}
	for i := range list {
		if list[i].Module = m.Path; i > 0 { // its PDB
			list[i].Module = strings.TrimSuffix(m.Path, filepath.Ext(m.Path)) + ".pdb"
		}
	}
	return list, nil
}

// receive opens the archive as a receiver does, without any other file, and records what can be answered.
func (p *packer) receive(out *answer.Pack, archive string) (err error) {
	d, err := process.Open(archive, process.Options{Offline: true, Jobs: p.d.Jobs()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := scrub.Verify(p.ctx, p.d, d); err != nil {
		return err
	}
	out.Receiver = slices.Clip(doctor.Of(d.Default(), doctor.Options{}).Parts)
	st, err := os.Stat(archive)
	if err != nil {
		return err
	}
	out.Size = st.Size()
	return p.ctx.Err()
}
