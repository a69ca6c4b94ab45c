package triage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/words"
)

// manyCollisions is how many keys with one hash code are a finding. Each search among them compares half of them.
const manyCollisions = 1000

// collisions returns the collections with many keys of one hash code. A large holder among found has them as a clause.
func collisions(l *answer.Leaks, found []answer.Finding) (out []answer.Finding) {
	for i := range l.Suspects {
		s := &l.Suspects[i]
		holds := func(f answer.Finding) bool { return s.Point != nil && f.Object == s.Point.Address }
		if s.Chain.IsZero() || s.Colliding < manyCollisions || slices.ContainsFunc(found, holds) {
			continue
		}
		_, root := signature.Suspect(s)
		p := cmp.Or(s.Owner, s.Point)
		x := answer.Conclude(answer.FindingCollisions, words.Collisions.Of(words.ObjectOfType.Of(words.Type(p.Type.String()), words.ShortObject(p.Address)), keptBy(s, root), s.Chain),
			answer.StrengthRecorded, words.HashCodes.Of())
		x.Count, x.Sites = int(s.Colliding), []answer.Site{{Method: p.Type, Does: "hash"}}
		f := finding(answer.FindingCollisions, x)
		f.Object = p.Address
		f.Next = append(f.Next, fmt.Sprintf("gcroot %x", uint64(p.Address)))
		out = append(out, f)
	}
	return out
}
