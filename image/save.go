package image

import (
	"context"
	"io"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// A Saved describes what Save wrote.
type Saved struct {
	Size    uint64 // bytes of the file
	Missing uint64 // bytes that are neither in the dump nor in a file, written as zeros
}

// maxSavedImage bounds the size of a file that headers can request.
const maxSavedImage = 4 << 30

// Save rebuilds the file of an image from its memory: headers, and each section or segment at its
// file offset. The loader's changes remain: relocations, import tables, writable data. Missing
// bytes are counted. An image without sections is target.ErrUnsupported, and sections outside of
// the maximum size are target.ErrCorrupt. If ctx ends, Save fails with its error.
func (m *Image) Save(ctx context.Context, w io.WriterAt) (Saved, error) {
	sections := slices.Clone(m.Sections())
	if len(sections) == 0 {
		return Saved{}, target.Unsupportedf("the image has no sections that could be saved")
	}
	var s Saved
	headers := uint64(maxSavedImage)
	for _, sec := range sections {
		if sec.FileSize > 0 {
			headers = min(headers, sec.Offset)
		}
	}
	if headers < maxSavedImage {
		sections = append(sections, Section{Size: headers, FileSize: headers})
	}
	for _, sec := range sections {
		if err := s.save(ctx, w, m, sec); err != nil {
			return s, err
		}
	}
	return s, nil
}

// save writes the part of a section that is in the file.
func (s *Saved) save(ctx context.Context, w io.WriterAt, img *Image, sec Section) error {
	n := min(sec.FileSize, sec.Size)
	if sec.Offset > maxSavedImage || sec.FileSize > maxSavedImage-sec.Offset {
		return target.Corruptf("section %q: %d bytes at %#x of the file", sec.Name, sec.FileSize, sec.Offset)
	}
	s.Size = max(s.Size, sec.Offset+sec.FileSize)
	buf := make([]byte, 64<<10)
	for done := uint64(0); done < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := buf[:min(uint64(len(buf)), n-done)]
		got, _ := img.ReadRVA(part, sec.RVA+RVA(done)) // missing bytes are counted
		if got > 0 {
			if _, err := w.WriteAt(part[:got], int64(sec.Offset+done)); err != nil {
				return err
			}
		}
		done += uint64(got)
		if got < len(part) {
			skip := min(missingPage-(uint64(sec.RVA)+done)%missingPage, n-done)
			s.Missing += skip
			done += skip
		}
	}
	return nil
}

// missingPage is the unit in which dumps omit memory.
const missingPage = 4096
