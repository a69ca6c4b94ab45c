package image

import (
	"bytes"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

const (
	debugEntrySize    = 28 // sizeof(IMAGE_DEBUG_DIRECTORY)
	anyDebugEntry     = 0  // IMAGE_DEBUG_TYPE_UNKNOWN, which no compiler writes
	debugCodeView     = 2
	portablePDBMinor  = 0x504d // "MP": PE-COFF.md of dotnet/runtime, "CodeView Debug Directory Entry"
	codeViewSignature = "RSDS"
	codeViewHead      = 24 // signature, GUID, age
	maxDebugEntries   = 256
)

// A CodeView is a CodeView entry of the debug directory. It names a PDB.
type CodeView struct {
	target.PDBID
	Portable bool // a portable PDB; otherwise a Windows PDB, such as the *.ni.pdb of ReadyToRun code
}

// CodeViews returns the CodeView entries in the image's order. With an error it returns the entries
// that could be read. An image without a debug directory is target.ErrUnsupported.
func (im *Image) CodeViews() ([]CodeView, error) {
	entries, err := im.debugEntries(debugCodeView)
	var out []CodeView
	for _, entry := range entries {
		cv, ok, cerr := im.codeView(entry)
		if cerr != nil {
			err = cerr
		} else if ok {
			out = append(out, cv)
		}
	}
	return out, err
}

// debugTexts returns where a file has the data of its debug directory, but for the identity of a PDB. Writers of
// triage dumps overwrite the paths and checksums in it.
func (im *Image) debugTexts() []fileRange {
	entries, _ := im.debugEntries(anyDebugEntry) // unreadable entries are compared
	var out []fileRange
	for _, e := range entries {
		off, n := uint64(le32(e, 24)), uint64(le32(e, 16))
		if le32(e, 12) == debugCodeView {
			head := min(n, codeViewHead)
			off, n = off+head, n-head
		}
		out = append(out, fileRange{off, n})
	}
	return out
}

// debugEntries returns the entries of a kind in the debug directory, or all (anyDebugEntry).
func (im *Image) debugEntries(kind uint32) (out [][]byte, err error) {
	d, err := im.peDirectory(dirDebug, "debug directory")
	if err != nil {
		return nil, err
	}
	b, err := im.directory(d, maxDebugEntries*debugEntrySize)
	if err != nil {
		return nil, fmt.Errorf("debug directory: %w", err)
	}
	for ; len(b) >= debugEntrySize; b = b[debugEntrySize:] {
		if kind == anyDebugEntry || le32(b, 12) == kind {
			out = append(out, b[:debugEntrySize])
		}
	}
	return out, nil
}

// codeView reads the data of an entry. ok is false for older formats (NB10), which have no GUID.
func (im *Image) codeView(entry []byte) (cv CodeView, ok bool, err error) {
	n, rva := le32(entry, 16), RVA(le32(entry, 20))
	if n < codeViewHead || n > codeViewHead+limits.PathBytes {
		return cv, false, target.Corruptf("CodeView record of %d bytes", n)
	}
	b, err := im.debugData(rva, uint64(le32(entry, 24)), int(n))
	if err != nil {
		return cv, false, fmt.Errorf("CodeView record: %w", err)
	}
	if string(b[:4]) != codeViewSignature {
		return cv, false, nil
	}
	copy(cv.GUID[:], b[4:])
	cv.Age = le32(b, 20)
	path, _, _ := bytes.Cut(b[codeViewHead:], []byte{0})
	cv.Path = string(path)
	cv.Portable = le16(entry, 10) == portablePDBMinor
	return cv, true, nil
}

// debugData reads the data of a debug entry. Data outside of all sections has a file offset but no
// RVA.
func (im *Image) debugData(rva RVA, off uint64, n int) ([]byte, error) {
	if rva != 0 {
		return im.BytesRVA(rva, n)
	}
	if im.layout != Flat {
		return nil, errNoFileBytes
	}
	return im.raw.bytes(off, n)
}

// PDB returns the identity of the PDB with line numbers and locals: the portable entry of a managed
// image, otherwise the first entry.
func (im *Image) PDB() (target.PDBID, error) {
	list, err := im.CodeViews()
	for _, cv := range list {
		if cv.Portable {
			return cv.PDBID, nil
		}
	}
	if len(list) > 0 {
		return list[0].PDBID, nil
	}
	if err == nil {
		err = target.Unsupportedf("the image names no PDB")
	}
	return target.PDBID{}, err
}
