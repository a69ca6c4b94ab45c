package dac

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// SourceFiles lists the source files that the module's PDB names. It reads no text; see Source.
func (m *Module) SourceFiles() iter.Seq2[*answer.SourceFile, error] {
	return func(yield func(*answer.SourceFile, error) bool) {
		pdb, err := m.PDB()
		if err != nil {
			yield(nil, err)
			return
		}
		for rid := uint32(1); rid <= pdb.Metadata.RowCount(metadata.TableDocument); rid++ {
			name, err := pdb.Metadata.DocumentName(rid)
			if !yield(&answer.SourceFile{File: name, Module: m.Label()}, err) {
				return
			}
		}
	}
}

// Source describes a source file of the module, by the name that the PDB has for it, with the text if the PDB embeds it.
func (m *Module) Source(file string) (*answer.SourceFile, error) {
	pdb, err := m.PDB()
	if err != nil {
		return nil, err
	}
	out := &answer.SourceFile{File: file, Module: m.Label()}
	for rid := uint32(1); rid <= pdb.Metadata.RowCount(metadata.TableDocument); rid++ {
		name, err := pdb.Metadata.DocumentName(rid)
		if err != nil || name != file {
			continue
		}
		text, ok, err := pdb.Metadata.EmbeddedSource(rid)
		if err != nil {
			return nil, err
		}
		if ok {
			s := string(text)
			out.Text = &s
		}
		out.Link, err = pdb.Metadata.SourceLink(file)
		out.Note(err)
		return out, nil
	}
	return nil, fmt.Errorf("source file %s: %w", file, target.Unsupportedf("the PDB of %s has no such file", m.Label()))
}
