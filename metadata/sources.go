package metadata

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// The kinds of custom debug information about sources (PortablePdb-Metadata.md of dotnet/runtime).
var (
	kindEmbeddedSource = GUID{0x1b, 0x57, 0x8a, 0x0e, 0x26, 0x69, 0x6e, 0x46, 0xb4, 0xad, 0x8a, 0xb0, 0x46, 0x11, 0xf5, 0xfe}
	kindSourceLink     = GUID{0x56, 0x05, 0x11, 0xcc, 0x91, 0xa0, 0x38, 0x4d, 0x9f, 0xec, 0x25, 0xab, 0x9a, 0x35, 0x1a, 0x6a}
)

// customDebug returns the custom debug information of a kind about a row, or nil.
func (md *Metadata) customDebug(parent Token, kind GUID) ([]byte, error) {
	rows, err := md.byToken(TableCustomDebugInformation, 0, parent)
	if err != nil && rows.n == 0 {
		return nil, err
	}
	for rid, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		row, err := md.CustomDebugInformation(rid)
		if err != nil {
			return nil, err
		}
		if g, err := md.GUID(row.Kind); err != nil || g != kind {
			continue
		}
		return md.Blob(row.Value)
	}
	return nil, nil
}

// EmbeddedSource returns the source text that the compiler embedded, by Document rid. It returns false if the
// text is not embedded.
func (md *Metadata) EmbeddedSource(rid uint32) (text []byte, ok bool, err error) {
	b, err := md.customDebug(NewToken(TableDocument, rid), kindEmbeddedSource)
	if b == nil || err != nil {
		return nil, false, err
	}
	const head = 4 // size of the uncompressed text; 0 for text that is not compressed
	if len(b) < head {
		return nil, false, corruptf(0, "embedded source of Document row %d has %d bytes", rid, len(b))
	}
	size := binary.LittleEndian.Uint32(b)
	if b = b[head:]; size == 0 {
		return b, true, nil
	}
	if uint64(size) > limits.SourceText || uint64(size) > limits.SourceRatio*uint64(len(b)+1) {
		return nil, false, corruptf(0, "embedded source of Document row %d has %d bytes in %d", rid, size, len(b))
	}
	text = make([]byte, size)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(b)), text); err != nil {
		return nil, false, corruptf(0, "embedded source of Document row %d: %v", rid, err)
	}
	return text, true, nil
}

// SourceLink returns the URL of a source file in the PDB's Source Link map, or "" if the map does not contain
// it.
func (md *Metadata) SourceLink(file string) (string, error) {
	b, err := md.customDebug(NewToken(TableModule, 1), kindSourceLink)
	if b == nil || err != nil {
		return "", err
	}
	if len(b) > limits.SourceLink {
		return "", corruptf(0, "Source Link map of %d bytes", len(b))
	}
	var m struct {
		Documents map[string]string `json:"documents"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), &m); err != nil {
		return "", corruptf(0, "Source Link map: %v", err)
	}
	best, url := -1, ""
	for _, from := range slices.Sorted(maps.Keys(m.Documents)) { // two of them may differ by case alone
		to := m.Documents[from]
		folder, open := strings.CutSuffix(from, "*")
		switch {
		case !open && strings.EqualFold(from, file):
			return to, nil
		case open && len(folder) > best && len(file) >= len(folder) && strings.EqualFold(file[:len(folder)], folder):
			best, url = len(folder), strings.Replace(to, "*", strings.ReplaceAll(file[len(folder):], `\`, "/"), 1)
		}
	}
	return url, nil
}
