package dac

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// DescribeAssemblies describes the modules that the runtime has loaded, in the order of KnownModules. match, if not nil, chooses them by
// the last part of File. A list that is incomplete ends with the error; without any module the error is returned instead.
func (r *Runtime) DescribeAssemblies(ctx context.Context, match func(name string) bool) (iter.Seq2[*answer.LoadedModule, error], error) {
	modules, incomplete := r.KnownModules()
	if incomplete != nil && len(modules) == 0 {
		return nil, incomplete
	}
	return func(yield func(*answer.LoadedModule, error) bool) {
		for _, m := range modules {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			row := &answer.LoadedModule{}
			row.Name = row.Gaps.Text(m.File())
			if match != nil && !match(target.BaseName(row.Name.String())) {
				continue
			}
			m.describeLoaded(row)
			if !yield(row, nil) {
				return
			}
		}
		if incomplete != nil {
			yield(nil, incomplete)
		}
	}, nil
}

func (m *Module) describeLoaded(row *answer.LoadedModule) {
	row.Module, row.Assembly = m.Addr, m.Assembly
	dynamic, err := m.IsDynamic()
	row.Dynamic = dynamic
	row.Note(err)
	at, err := m.Image()
	row.ImageBase, row.Size, row.PE = row.Pointer(at.Start, err), at.Size(), at.Start != 0
	if flat, err := m.IsFlat(); err == nil && row.PE {
		row.Layout = "Mapped"
		if flat {
			row.Layout = "Flat"
		}
	}
	if _, err := m.Metadata(); err != nil {
		row.Note(err)
		row.MetadataErr = err
	} else {
		where := m.MetadataSource()
		row.Metadata, row.MetadataSize = where.Addr, where.Size
	}
	if !row.PE {
		return
	}
	img, err := m.PEImage()
	if err != nil {
		row.PDBErr, row.Version = err, row.Text("", err)
		return
	}
	row.PDB, row.PDBErr = img.DescribePDB()
	row.Note(row.PDBErr)
	if tm, err := m.imageModule(); err == nil {
		row.Version = image.DescribeVersion(&row.Gaps, m.runtime().mem, tm)
	}
}
