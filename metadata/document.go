package metadata

import (
	"bytes"

	"github.com/sosgo/sosgo/internal/limits"
)

// DocumentName returns the path of a source file, by Document rid: parts from the
// blob heap, joined by a separator (portable PDB v1.0, "Document Name Blob").
func (md *Metadata) DocumentName(rid uint32) (string, error) {
	row, err := md.Document(rid)
	if err != nil {
		return "", err
	}
	b, err := md.Blob(row.Name)
	if err != nil || len(b) == 0 {
		return "", err
	}
	sep := b[:1]
	if sep[0] == 0 {
		sep = nil
	}
	var name bytes.Buffer
	for b, first := b[1:], true; len(b) > 0; first = false {
		i, n := uncompress(b)
		if n == 0 {
			return "", corruptf(0, "document name of Document row %d", rid)
		}
		part, err := md.Blob(BlobIndex(i))
		if err != nil {
			return "", err
		}
		if !first {
			name.Write(sep)
		}
		if name.Write(part); name.Len() > limits.PathBytes {
			return "", corruptf(0, "document name of Document row %d is too long", rid)
		}
		b = b[n:]
	}
	return name.String(), nil
}
