package sensitive

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/settings"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A masking holds the secrets of a process.
type masking struct {
	masker *secrets.Masker
	beside map[target.Addr]bool // strings beside names for secrets
	gaps   answer.Gaps          // what was not read
}

// maskings caches the masking of each process.
var maskings = process.PerProcess(func(*process.Process) (*lazy.Value[*masking], error) { return new(lazy.Value[*masking]), nil })

// Secrets counts the known secrets: settings by their names, and strings, arrays, fields and dictionary values of the
// heap by form or name. It can't know secrets without such a sign. The error is ctx's or the process's.
func Secrets(ctx context.Context, p *process.Process) (*answer.Secrets, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Secrets, error) {
		m, err := maskingOf(ctx, p)
		if err != nil {
			return nil, err
		}
		out := &answer.Secrets{Kinds: []answer.SecretKind{}}
		out.NoteAll(m.gaps.Noted())
		for kind, n := range m.masker.Known() {
			out.Values += n
			out.Kinds = append(out.Kinds, answer.SecretKind{Kind: string(kind), Values: n})
		}
		slices.SortStableFunc(out.Kinds, func(a, b answer.SecretKind) int {
			return cmp.Or(cmp.Compare(b.Values, a.Values), cmp.Compare(a.Kind, b.Kind))
		})
		return out, nil
	})
}

// Mask returns a function that replaces the secrets in a text: the secrets that Secrets counts, wherever they appear,
// and those with a telling form. The heap is read once for all calls of Mask and Secrets. The function is safe for
// concurrent use.
func Mask(ctx context.Context, p *process.Process) (func(text string) string, error) {
	m, err := Masker(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.Text, nil
}

// Masker returns the Masker of Mask.
func Masker(ctx context.Context, p *process.Process) (*secrets.Masker, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*secrets.Masker, error) {
		m, err := maskingOf(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, gap := range m.gaps.Noted() {
			c.Note(gap)
		}
		return m.masker, nil
	})
}

// Beside returns a function that reports whether the string at an address stands beside a name that makes it a secret: the name of a field, a
// variable or a key. Its text is hidden there, also if it is too short to be masked everywhere. Secrets notes what was not read.
func Beside(ctx context.Context, p *process.Process) (func(a target.Addr) bool, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (func(a target.Addr) bool, error) {
		m, err := maskingOf(ctx, p)
		if err != nil {
			return nil, err
		}
		return func(a target.Addr) bool { return m.beside[a] }, nil
	})
}

// SecretValues lists the searchable values among the secrets that Secrets counts, sorted. Secrets notes what was not
// read.
func SecretValues(ctx context.Context, p *process.Process) ([]string, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) ([]string, error) {
		m, err := maskingOf(ctx, p)
		if err != nil {
			return nil, err
		}
		return m.masker.Values(), nil
	})
}

// names adds the names of the types of a process to m.
func names(ctx context.Context, m *secrets.Masker, r *objects.Reader) {
	for mt, err := range r.Runtime().LoadedTypes() {
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			continue // the search in static fields notes it
		}
		if name, err := r.Runtime().TypeName(mt.Addr, dac.NameManaged); err == nil {
			m.AddName(name)
		}
	}
}

// maskingOf finds the secrets. The error is ctx's.
func maskingOf(ctx context.Context, p *process.Process) (*masking, error) {
	kept, err := maskings(p)
	if err != nil {
		return nil, err
	}
	return kept.GetContext(ctx, func(ctx context.Context) (*masking, error) {
		m := &masking{masker: secrets.NewMasker()}
		if b, err := p.Shapes(); err == nil { // an error is noted below
			names(ctx, m.masker, b.Objects())
		}
		described, err := settings.Process(ctx, p, settings.ProcessOptions{Full: true})
		if err != nil {
			m.gaps.Note(err)
		} else {
			Settings(m.masker, described)
		}
		h, err := p.Heap()
		if err != nil {
			m.gaps.Note(err)
			return m, ctx.Err()
		}
		b, err := p.Shapes()
		if err != nil {
			m.gaps.Note(err)
			return m, ctx.Err()
		}
		c, err := p.Collections()
		if err != nil {
			m.gaps.Note(err)
			return m, ctx.Err()
		}
		r := New(b, c)
		m.gaps.Note(r.Objects(ctx, m.masker, h, p.Scanning(ctx, "looking for secrets", heap.ScanOptions{}), &m.gaps))
		r.Variables(ctx, m.masker, p, &m.gaps)
		m.beside = r.beside
		return m, ctx.Err()
	})
}
