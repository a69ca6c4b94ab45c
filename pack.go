package sosgo

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/target"
)

// Packed tells what Pack put into a pack.
type Packed struct {
	Files   []PackedFile
	Missing []target.Module // images of the process whose files were not found
}

// A PackedFile is a file in a pack.
type PackedFile struct {
	Path string // of the file on this machine
	Size int64  // bytes
}

// Pack writes a pack of the dump to w: one .tar.zst with the dump and the files
// of its modules, which Open opens directly, so that a dump can be moved and
// still be complete. Only files that are proved to be the ones that the
// process had loaded are packed, and the portable PDBs that lie beside them.
// progress, if not nil, is told the bytes that were read, and how many there
// are in all.
func (d *Dump) Pack(ctx context.Context, w io.Writer, progress func(done, total int64)) (*Packed, error) {
	result, modules := d.packContents()
	total := d.file.Size
	for _, f := range result.Files {
		total += f.Size
	}
	zw, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, err
	}
	p := &packer{ctx: ctx, tar: tar.NewWriter(zw), total: total, progress: progress}
	err = p.write(d.file, result, modules)
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

// packContents finds the files that belong beside the dump. The second result
// has, beside each file, the path of the module that it stands for.
func (d *Dump) packContents() (*Packed, []string) {
	result := &Packed{}
	var modules []string
	add := func(path, module string) bool {
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() {
			return false
		}
		result.Files = append(result.Files, PackedFile{Path: path, Size: st.Size()})
		modules = append(modules, module)
		return true
	}
	seen := map[string]bool{}
	for _, m := range d.file.Modules() {
		if seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		img, err := d.files.File(&m, nil)
		if err != nil || !add(img.Path(), m.Path) {
			result.Missing = append(result.Missing, m)
			continue
		}
		pdb := strings.TrimSuffix(img.Path(), filepath.Ext(img.Path())) + ".pdb"
		add(pdb, strings.TrimSuffix(m.Path, filepath.Ext(m.Path))+".pdb")
	}
	return result, modules
}

type packer struct {
	ctx         context.Context
	tar         *tar.Writer
	done, total int64
	progress    func(done, total int64)
}

func (p *packer) write(d *dump.File, c *Packed, modules []string) error {
	mark := &tar.Header{Name: dump.PackMark, Mode: 0o644, Size: int64(len(dump.PackMarkText)), Format: tar.FormatPAX}
	if err := p.tar.WriteHeader(mark); err != nil {
		return err
	}
	if _, err := io.WriteString(p.tar, dump.PackMarkText); err != nil {
		return err
	}
	name := filepath.Base(d.Path)
	if d.Path == "" {
		name = "dump"
	}
	if err := p.entry(&tar.Header{Name: dump.PackDumpDir + name}, io.NewSectionReader(d.Content(), 0, d.Size), d.Size); err != nil {
		return err
	}
	for i, f := range c.Files {
		h := &tar.Header{
			Name:       dump.PackModuleDir + strconv.Itoa(i) + "/" + filepath.Base(f.Path),
			PAXRecords: map[string]string{dump.PackPathRecord: modules[i]},
		}
		if err := p.file(f, h); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

func (p *packer) file(f PackedFile, h *tar.Header) error {
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
