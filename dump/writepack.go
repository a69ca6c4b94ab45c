package dump

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/target"
)

// Packed lists the content that Pack wrote.
type Packed struct {
	Files   []PackEntry
	Missing []target.Module // images of the process whose files were not found
	Others  int             // further ones, which no answer needs
}

// A PackEntry is a file that is put into a pack.
type PackEntry struct {
	Path   string      // of the file, on this machine or in the pack that the dump came in
	Size   int64       // bytes
	Module string      // the path that the process had it under; of a PDB, what the module names
	Source io.ReaderAt // if not nil, has the content; otherwise the file at Path has it
}

// A PackFinder finds the files that belong to a module of the process: its image
// and its PDB. It returns only files that are proved to be the loaded ones. The error is ErrNotNeeded if there is none and no answer needs it.
type PackFinder func(context.Context, *target.Module) ([]PackEntry, error)

// ErrNotNeeded reports that no answer needs the files of a module.
var ErrNotNeeded = errors.New("no answer needs its files")

// Pack writes a pack of the dump to w: one .tar.zst with the dump and the files of its modules, which Open opens
// directly, so that a dump can be moved and still be complete. find finds them. progress, if not nil, receives the
// bytes that were read, and how many there are in all. Pack ends with the context's error when ctx does.
func (f *File) Pack(ctx context.Context, w io.Writer, find PackFinder,
	progress func(done, total int64)) (*Packed, error) {
	if f.src == nil {
		return nil, target.Unsupportedf("pack: a target that is no dump's")
	}
	result, err := f.packContents(ctx, find)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	total := f.Size
	for _, e := range result.Files {
		total += e.Size
	}
	zw, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, err
	}
	p := &packer{ctx: ctx, tar: tar.NewWriter(zw), total: total, progress: progress}
	err = p.write(f, result)
	if cerr := p.tar.Close(); err == nil {
		err = cerr
	}
	if cerr := zw.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return result, nil
}

// PackFile writes a pack, see Pack, to a new file of that name, which is seen when it is whole, and has no more permissions than the
// dump's. One that is there already is fs.ErrExist.
func (f *File) PackFile(ctx context.Context, name string, find PackFinder,
	progress func(done, total int64)) (*answer.Pack, error) {
	var packed *Packed
	err := outfile.Write(name, outfile.Options{New: true, Perm: func() fs.FileMode { return outfile.PermOf(f.Path) }}, func(w io.Writer) (err error) {
		packed, err = f.Pack(ctx, w, find, progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	result := &answer.Pack{File: name, Others: packed.Others}
	for _, e := range packed.Files {
		result.Files = append(result.Files, answer.PackedFile{Path: e.Path, Size: e.Size})
	}
	for _, m := range packed.Missing {
		result.Missing = append(result.Missing, m.Path)
	}
	return result, nil
}

// packContents finds the files that belong beside the dump.
func (f *File) packContents(ctx context.Context, find PackFinder) (*Packed, error) {
	result := &Packed{}
	seen := map[string]bool{}
	for _, m := range f.Modules() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		files, err := find(ctx, &m)
		n := 0
		for i := range files {
			if result.add(files[i]) {
				n++
			}
		}
		switch {
		case n > 0:
		case errors.Is(err, ErrNotNeeded):
			result.Others++
		default:
			result.Missing = append(result.Missing, m)
		}
	}
	return result, ctx.Err()
}

// add adds a file, if it is one.
func (c *Packed) add(e PackEntry) bool {
	if e.Source == nil {
		st, err := os.Stat(e.Path)
		if err != nil || !st.Mode().IsRegular() {
			return false
		}
		e.Size = st.Size()
	}
	c.Files = append(c.Files, e)
	return true
}

type packer struct {
	ctx         context.Context
	tar         *tar.Writer
	done, total int64
	progress    func(done, total int64)
}

func (p *packer) write(d *File, c *Packed) error {
	mark := &tar.Header{Name: PackMark, Mode: 0o644, Size: int64(len(PackMarkText)), Format: tar.FormatPAX}
	if err := p.tar.WriteHeader(mark); err != nil {
		return err
	}
	if _, err := io.WriteString(p.tar, PackMarkText); err != nil {
		return err
	}
	name := filepath.Base(d.Path)
	if d.Path == "" {
		name = "dump"
	}
	if err := p.entry(&tar.Header{Name: PackDumpDir + name}, io.NewSectionReader(d.Content(), 0, d.Size), d.Size); err != nil {
		return err
	}
	for i, f := range c.Files {
		h := &tar.Header{
			Name:       PackModuleDir + strconv.Itoa(i) + "/" + target.BaseName(f.Path),
			PAXRecords: map[string]string{PackPathRecord: f.Module},
		}
		if err := p.file(f, h); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

func (p *packer) file(f PackEntry, h *tar.Header) error {
	if f.Source != nil {
		return p.entry(h, io.NewSectionReader(f.Source, 0, f.Size), f.Size)
	}
	r, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	return p.entry(h, r, f.Size)
}

func (p *packer) entry(h *tar.Header, r io.Reader, size int64) error {
	h.Mode, h.Size, h.Format = 0o644, size, tar.FormatPAX
	if err := p.tar.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(p.tar, io.LimitReader(&packReader{p, r}, size))
	if err == nil && n < size {
		err = fmt.Errorf("only %d of %d bytes could be read: %w", n, size, io.ErrUnexpectedEOF)
	}
	return err
}

// packReader counts what is read and stops when the context is cancelled.
type packReader struct {
	p *packer
	r io.Reader
}

func (r *packReader) Read(b []byte) (int, error) {
	if err := r.p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(b)
	r.p.done += int64(n)
	if r.p.progress != nil {
		r.p.progress(r.p.done, r.p.total)
	}
	return n, err
}
