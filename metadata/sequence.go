package metadata

import (
	"bytes"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// A SequencePoint ties an IL offset to a place in the source (portable PDB v1.0, "Sequence Points Blob").
type SequencePoint struct {
	ILOffset               uint32 // bytes
	Document               Token
	Hidden                 bool // a point without source; its lines and columns are 0
	StartLine, EndLine     uint32
	StartColumn, EndColumn uint32
}

// SequencePoints iterates over the sequence points of a method in the order of their IL offsets, by MethodDef
// rid. It ends after the first error.
func (md *Metadata) SequencePoints(method uint32) iter.Seq2[SequencePoint, error] {
	return func(yield func(SequencePoint, error) bool) {
		row, err := md.MethodDebugInformation(method)
		if err != nil {
			yield(SequencePoint{}, err)
			return
		}
		b, err := md.Blob(row.SequencePoints)
		if err != nil {
			yield(SequencePoint{}, err)
			return
		}
		r := pointReader{sigReader: sigReader{b: b}, doc: row.Document}
		if len(b) > 0 {
			r.header()
		}
		for r.err == nil && r.left() > 0 {
			if p, ok := r.next(); ok && !yield(p, nil) {
				return
			}
		}
		if r.err != nil {
			yield(SequencePoint{}, r.err)
		}
	}
}

// A pointReader reads a sequence points blob. Offsets, lines and columns are stored as differences from the
// previous point.
type pointReader struct {
	sigReader
	doc          Token
	il           uint32
	line, column uint32 // of the last point that was not hidden
	started      bool   // a point was read
	visible      bool   // a point that is not hidden was read
}

// header skips the signature of the locals and reads the first document of a method with several.
func (r *pointReader) header() {
	r.uint()
	if r.doc.IsNil() {
		r.document()
	}
}

func (r *pointReader) document() {
	rid := r.uint()
	if rid == 0 || rid > maxRID {
		r.fail("document %d", rid)
	}
	r.doc = NewToken(TableDocument, rid)
}

// next reads a record. It returns false if the record only changes the document, which an IL offset difference
// of 0 marks, or if reading fails.
func (r *pointReader) next() (SequencePoint, bool) {
	delta := r.uint()
	if delta == 0 && r.started {
		r.document()
		return SequencePoint{}, false
	}
	r.il += delta
	p := SequencePoint{ILOffset: r.il, Document: r.doc}
	if r.il < delta {
		r.fail("IL offset passes 32 bits")
	}
	r.started = true
	lines, columns := r.extent()
	if lines == 0 && columns == 0 {
		p.Hidden = true
		return p, r.err == nil
	}
	r.start()
	p.StartLine, p.StartColumn = r.line, r.column
	p.EndLine, p.EndColumn = r.line+lines, r.column+uint32(columns)
	return p, r.err == nil
}

// extent reads the number of lines and columns of a point. Columns can be negative only if there are several
// lines.
func (r *pointReader) extent() (lines uint32, columns int32) {
	if lines = r.uint(); lines == 0 {
		return 0, int32(r.uint())
	}
	return lines, r.int()
}

// start reads the start of the next point. The first start is absolute.
func (r *pointReader) start() {
	if !r.visible {
		r.visible = true
		r.line, r.column = r.uint(), r.uint()
		return
	}
	r.line += uint32(r.int())
	r.column += uint32(r.int())
}

// DocumentName returns the path of a source file, by Document rid. It is stored as parts in the blob heap,
// joined by a separator (portable PDB v1.0, "Document Name Blob").
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
