package dump

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/target"
)

// A pack is a tar archive, usually compressed, with a dump and the files of its modules, so that a
// dump is complete on another machine. Its entries:
//
//	sosgo-pack        the text "sosgo pack 1\n"; the first entry
//	dump/NAME         the dump
//	modules/N/NAME    the file of a module; the record "SOSGO.path" of its
//	                  header is the path of the module in the dump
//
// Other entries are ignored.
const (
	PackMark       = "sosgo-pack"
	PackMarkText   = "sosgo pack 1\n"
	PackDumpDir    = "dump/"
	PackModuleDir  = "modules/"
	PackPathRecord = "SOSGO.path"
)

// A PackedFile is a module's file in a pack.
type PackedFile struct {
	Path string // the path of the module in the dump
	src  target.Source
}

// Source returns the content of the file. It is valid until the dump is closed.
func (p *PackedFile) Source() target.Source { return p.src }

// PackedFiles lists the module files of a dump that was opened from a pack.
func (f *File) PackedFiles() []PackedFile { return slices.Clone(f.packed) }

// tarMagic is at offset tarMagicAt of every tar archive (POSIX.1-1988, ustar).
const (
	tarMagic   = "ustar"
	tarMagicAt = 257
)

func isTar(head []byte) bool {
	return len(head) >= tarMagicAt+len(tarMagic) && string(head[tarMagicAt:tarMagicAt+len(tarMagic)]) == tarMagic
}

// openPack opens the dump in a pack. The archive is not unpacked: the dump and the files are
// sections of src.
func openPack(src target.Source, o *Options) (*File, error) {
	counter := &positionReader{r: io.NewSectionReader(src, 0, src.Size())}
	archive := tar.NewReader(counter)
	var dumpAt *section
	var files []PackedFile
	for n := 0; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if n == 0 && (err != nil || h.Name != PackMark) {
			return nil, target.Unsupportedf("a tar archive that sosgo did not make: unpack it and name the dump in it")
		}
		if err != nil {
			return nil, target.Corruptf("pack: %w", err)
		}
		if n > limits.Modules {
			return nil, target.Corruptf("pack: more than %d entries", limits.Modules)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		// The archive reader has read the header but not the content.
		part := &section{src: src, off: counter.pos, size: h.Size}
		if part.size > src.Size()-part.off {
			return nil, target.Corruptf("pack: %s is cut off", h.Name)
		}
		switch {
		case strings.HasPrefix(h.Name, PackDumpDir) && dumpAt == nil:
			dumpAt = part
		case strings.HasPrefix(h.Name, PackModuleDir):
			files = append(files, PackedFile{Path: h.PAXRecords[PackPathRecord], src: part})
		}
	}
	if dumpAt == nil {
		return nil, target.Corruptf("pack: there is no dump in it")
	}
	head, err := readHead(dumpAt)
	if err != nil {
		return nil, err
	}
	f, err := openContainer(dumpAt, head, o)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	f.packed = files
	return f, nil
}

// positionReader counts the bytes that were read or skipped.
type positionReader struct {
	r   *io.SectionReader
	pos int64
}

func (p *positionReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.pos += int64(n)
	return n, err
}

// Seek lets the archive reader skip the content of entries.
func (p *positionReader) Seek(offset int64, whence int) (int64, error) {
	pos, err := p.r.Seek(offset, whence)
	if err == nil {
		p.pos = pos
	}
	return pos, err
}

// section is a part of a source.
type section struct {
	src       target.Source
	off, size int64
}

func (s *section) Size() int64 { return s.size }

// Lost implements File.Lost.
func (s *section) Lost() error { return machine.Lost(s.src) }

func (s *section) Bytes(off int64, n int) []byte { return s.src.Bytes(s.off+off, n) }

func (s *section) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	n := min(int64(len(p)), s.size-off)
	got, err := s.src.ReadAt(p[:n], s.off+off)
	if err == nil && int64(got) == n && n < int64(len(p)) {
		err = io.EOF
	}
	return got, err
}
