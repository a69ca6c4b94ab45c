package sosgo

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/sensitive"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/secrets"
)

// masking is what is known of a process's secrets.
type masking struct {
	masker *secrets.Masker
	gaps   answer.Gaps // what was not looked at
}

// Secrets counts the values that are known as secrets: settings by their names, and what the strings, arrays, fields and dictionaries of the
// heap have by its form or by a name. Values that nothing shows to be secrets are not among them.
func (v *View) Secrets(ctx context.Context) (*answer.Secrets, error) {
	return ask(ctx, v, func(q *question) (*answer.Secrets, error) {
		m, err := q.masking(q.ctx)
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

// Mask returns a function that replaces the secrets in a text: those that Secrets counts, wherever they appear, and those that the text shows by
// their form. The heap is read once for all calls of Mask and Secrets. The function is safe for concurrent use.
func (v *View) Mask(ctx context.Context) (func(text string) string, error) {
	return ask(ctx, v, func(q *question) (func(string) string, error) {
		m, err := q.masking(q.ctx)
		if err != nil {
			return nil, err
		}
		for _, gap := range m.gaps.Noted() {
			q.note(gap)
		}
		return m.masker.Text, nil
	})
}

// SecretValues lists the values that Secrets counts as far as they can be searched for, sorted. What was not looked at is noted by Secrets.
func (v *View) SecretValues(ctx context.Context) ([]string, error) {
	return ask(ctx, v, func(q *question) ([]string, error) {
		m, err := q.masking(q.ctx)
		if err != nil {
			return nil, err
		}
		return m.masker.Values(), nil
	})
}

// masking finds the secrets. The error is the context's.
func (v *View) masking(ctx context.Context) (*masking, error) {
	return v.secret.GetContext(ctx, func(ctx context.Context) (*masking, error) {
		m := &masking{masker: secrets.NewMasker()}
		p, err := v.Process(ctx, ProcessOptions{Full: true})
		if err != nil {
			m.gaps.Note(err)
		} else {
			sensitive.Settings(m.masker, p)
		}
		h, err := v.Heap()
		if err != nil {
			m.gaps.Note(err)
			return m, ctx.Err()
		}
		r, err := v.Objects()
		if err != nil {
			m.gaps.Note(err)
			return m, ctx.Err()
		}
		c, err := v.Collections()
		if err != nil {
			m.gaps.Note(err)
			return m, ctx.Err()
		}
		m.gaps.Note(sensitive.New(r, c).Objects(ctx, m.masker, h, v.scan(ctx, "looking for secrets", heap.ScanOptions{}), &m.gaps))
		return m, ctx.Err()
	})
}
