package signature

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// FindingVersion is the version of the algorithm for signatures of findings other than crashes. Signatures of different
// versions are not comparable.
const FindingVersion = 1

// Finding identifies a finding by the sites of its first statement. nil rules are the default. A cycle of waits is
// identified by all sites in order, other findings by the most frequent site. A finding without sites has no signature.
func Finding(kind answer.FindingKind, sites []answer.Site, rules *Rules) answer.Identity {
	if rules == nil {
		rules = defaultRules()
	}
	var parts []string
	var sound bool
	if kind == answer.FindingDeadlock || kind == answer.FindingCircle {
		parts, sound = rules.circle(sites)
		kind = answer.FindingDeadlock // whether a wait of the cycle ends by itself is not always known
	} else {
		parts, sound = rules.crowd(sites)
	}
	if len(parts) == 0 {
		return answer.Identity{}
	}
	id := sign("finding", FindingVersion, append([]string{string(kind)}, parts...), sound)
	id.SignatureRules = rules.hash
	return id
}

// OutOfMemory identifies a heap that could not grow by its largest holder. Without a holder the signature is weak.
func OutOfMemory(holder answer.Identity) answer.Identity {
	parts := append([]string{string(answer.FindingMemory)}, holder.SignatureParts...)
	return sign("finding", FindingVersion, parts, holder.SignatureStrength == answer.SignatureStrong)
}

// siteOf describes a site, equally for all versions and systems. It is not sound if the site has no method of the
// program, or an unreadable or uninformative exception.
func (r *Rules) siteOf(s *answer.Site) (text string, sound bool) {
	name, sound := "", false
	if s.Method.Err == nil && s.Method.S != "" && !r.irrelevantFrame(s.Method.S) {
		name = Method(s.Method.S)
		sound = !r.libraryFrame(name)
		name = r.stripped(name)
	}
	var types []string
	for _, t := range s.Failed {
		of := withoutGenerics(t.S)
		if t.Err != nil || of == "" {
			sound = false
			continue
		}
		sound = sound && !slices.Contains(wrappers[:], of)
		types = append(types, of)
	}
	slices.Sort(types) // tasks fail in any order
	failed := strings.Join(slices.Compact(types), ", ")
	return strings.Join(strings.Fields(name+" "+s.Does+" "+failed), " "), sound
}

// circle returns the sites of a cycle, rotated so that their texts come first in order. A repeated sequence counts
// once.
func (r *Rules) circle(sites []answer.Site) (parts []string, sound bool) {
	all := make([]string, len(sites))
	sound = true
	for i := range sites {
		text, known := r.siteOf(&sites[i])
		all[i] = text
		sound = sound && known
	}
	for n := 1; n <= len(all); n++ { // the shortest sequence that the cycle repeats
		if len(all)%n == 0 && slices.Equal(all[n:], all[:len(all)-n]) {
			all = all[:n]
			break
		}
	}
	for i := range all {
		turned := slices.Concat(all[i:], all[:i])
		if parts == nil || slices.Compare(turned, parts) < 0 {
			parts = turned
		}
	}
	return parts, sound
}

// crowd returns the most frequent site. sound reports whether it covers more than half of all, including unknown sites.
func (r *Rules) crowd(sites []answer.Site) (parts []string, sound bool) {
	counts, known := map[string]int{}, map[string]bool{}
	total := 0
	for i := range sites {
		text, sound := r.siteOf(&sites[i])
		n := max(sites[i].Count, 1)
		total += n
		if text == "" {
			continue
		}
		counts[text] += n
		known[text] = sound
	}
	if len(counts) == 0 {
		return nil, false
	}
	first := slices.MinFunc(slices.Collect(maps.Keys(counts)), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return []string{first}, known[first] && 2*counts[first] > total
}
