package sosgo

import (
	"io"
	"slices"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// A SavedImage says what SaveImage wrote.
type SavedImage struct {
	Size    uint64 // bytes of the file
	Missing uint64 // bytes of it that neither the dump nor a file has; they are zeros
}

// maxSavedImage bounds the size of a file that headers can ask for.
const maxSavedImage = 4 << 30

// SaveImage rebuilds the file of m from the process's memory: headers, and each
// section or segment at its place in the file. What the loader changed stays
// changed: relocations, import tables, writable data. What is missing is
// counted. Sections that lie outside of what a file may be are
// target.ErrCorrupt.
func (d *Dump) SaveImage(w io.WriterAt, m *NativeModule) (SavedImage, error) {
	img, err := d.Image(m)
	if err != nil {
		return SavedImage{}, err
	}
	sections := slices.Clone(img.Sections())
	if len(sections) == 0 {
		return SavedImage{}, target.Unsupportedf("%s has no sections that could be saved", m.Path)
	}
	var s SavedImage
	headers := uint64(maxSavedImage)
	for _, sec := range sections {
		if sec.FileSize > 0 {
			headers = min(headers, sec.Offset)
		}
	}
	if headers < maxSavedImage {
		sections = append(sections, image.Section{Size: headers, FileSize: headers})
	}
	for _, sec := range sections {
		if err := s.save(w, img, sec); err != nil {
			return s, err
		}
	}
	return s, nil
}

// save writes the part of a section that the file has.
func (s *SavedImage) save(w io.WriterAt, img *image.Image, sec image.Section) error {
	n := min(sec.FileSize, sec.Size)
	if sec.Offset > maxSavedImage || sec.FileSize > maxSavedImage-sec.Offset {
		return target.Corruptf("section %q: %d bytes at %#x of the file", sec.Name, sec.FileSize, sec.Offset)
	}
	s.Size = max(s.Size, sec.Offset+sec.FileSize)
	buf := make([]byte, 64<<10)
	for done := uint64(0); done < n; {
		part := buf[:min(uint64(len(buf)), n-done)]
		got, _ := img.ReadRVA(part, sec.RVA+image.RVA(done)) // what is missing is counted
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

// missingPage is the unit in which dumps leave memory out.
const missingPage = 4096
