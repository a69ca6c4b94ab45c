package dump

import (
	"archive/tar"
	"cmp"
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
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/target"
)

// Packed describes the content that Pack wrote.
type Packed struct {
	Files   []PackEntry
	Missing []target.Module // images whose files were not found
	Others  int             // images whose files were not found and are not needed
}

// A PackEntry is a file to put into a pack.
type PackEntry struct {
	Path   string      // on this machine, or in the pack that the dump came in
	Size   int64       // bytes
	Module string      // the module's path in the process; for a PDB the path that the module names
	Source io.ReaderAt // the content; if nil, the file at Path
}

// A PackFinder finds the files of a module: its image and its PDB. It returns only files that are
// proved to be the loaded ones. The error is ErrNotNeeded if it finds none and no answer needs
// them.
type PackFinder func(context.Context, *target.Module) ([]PackEntry, error)

// ErrNotNeeded reports that no answer needs the files of a module.
var ErrNotNeeded = errors.New("no answer needs its files")

// Pack writes a pack of the dump to w: one .tar.zst with the dump and the files of its modules, so
// that the dump is complete on another machine. Open opens it directly. find finds the files.
// progress, if not nil, receives the number of bytes read so far, and the total. If ctx ends, Pack
// fails with its error.
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
	err = cmp.Or(f.Lost(), err)
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

// PackFile writes a pack (see Pack) to a new file, which appears when it is complete and has at
// most the dump's permissions. An existing file is fs.ErrExist.
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
	result := &answer.Pack{File: name, Files: []answer.PackedFile{}, Others: packed.Others}
	for _, e := range packed.Files {
		result.Files = append(result.Files, answer.PackedFile{Path: e.Path, Size: e.Size})
	}
	for _, m := range packed.Missing {
		result.Missing = append(result.Missing, m.Path)
	}
	return result, nil
}

// packContents finds the files to pack with the dump.
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

// add adds a file if it is a regular file.
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
	r, err := mmapfile.OpenRegular(f.Path)
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

// packReader counts the bytes read and fails when the context ends.
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
