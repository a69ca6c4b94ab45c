package locks

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
)

// holders describes the methods that have entered a semaphore, or that complete a promise.
func (g *grapher) holders(list []holder) (out []answer.OperationHolder) {
	for i := range list {
		h := &list[i]
		d := answer.OperationHolder{Object: h.box, Method: h.method, Strength: h.strength}
		if h.thread != nil {
			thread := h.thread.Describe(g.s.gaps)
			d.Thread = &thread
		}
		if h.place != nil {
			d.File, d.Line = h.place.File, h.place.Line
		}
		if w := g.waitOf(h); w != nil {
			d.Thing = g.what(w)
			d.Waits = d.Thing.Text
		}
		if out = append(out, d); len(out) == listedHolders {
			break
		}
	}
	return out
}

// holderText names the holders of a semaphore, and what the first of them does.
func (g *grapher) holderText(list []*holder) answer.Statement {
	h := list[0]
	if len(list) == 1 {
		return words.HolderOf.Of(g.holderName(h), entered(h.strength), g.holderDoes(h, false))
	}
	return words.HoldersOf.Of(g.holderName(h), words.N(len(list)-1), entered(h.strength), g.holderDoes(h, true))
}

// holderDoes states what a holder of a semaphore does. first reports that it is the first of several which the sentence names.
func (g *grapher) holderDoes(h *holder, first bool) answer.Statement {
	w := g.waitOf(h)
	switch {
	case h.thread == nil && g.between(h.box):
		if g.dropped(h.box) {
			return words.IteratorDropped.Of(words.Text(subjectOf(first)))
		}
		return words.IteratorWaits.Of(words.Text(subjectOf(first)))
	case w != nil && first:
		return words.AndFirstWaits.Of(g.what(w))
	case w != nil:
		return words.AndWaits.Of(g.what(w))
	case h.thread != nil:
		return g.doing(h.thread)
	}
	return answer.Statement{}
}

// subjectOf begins a clause about a holder, or about the first of several.
func subjectOf(first bool) string {
	if first {
		return "; the first of them"
	}
	return ", and"
}

// holderName names a suspended method or a thread that has entered a semaphore.
func (g *grapher) holderName(h *holder) answer.Statement {
	if h.thread != nil {
		return words.ThreadIn.Of(g.name(h.thread), words.Method(compilernames.Pretty(h.method.String())))
	}
	return words.MethodObject.Of(words.Method(h.method.String()), words.Object(h.box))
}

// showHolder returns the commands that show a holder of a semaphore.
func (g *grapher) showHolder(h *holder) []string {
	if h.thread != nil {
		return showThread(h.thread.Describe(g.s.gaps))
	}
	return []string{"dumpasync -address " + addressText(h.box)}
}

// entered states that a method has entered a semaphore, worded by strength.
func entered(strength answer.Strength) answer.Statement {
	if strength == answer.StrengthLikely {
		return words.LikelyEntered.Of()
	}
	return words.MayEntered.Of()
}

// holderEvidence states why a method holds a semaphore.
func (g *grapher) holderEvidence(h *holder, l *lock) answer.Statement {
	var line answer.Statement
	if h.place != nil && h.place.File != "" {
		line = words.AtLine.Of(words.Place(h.place.File, h.place.Line))
	}
	return words.PastItsWait.Of(g.holderName(h), g.lockText(l), line, h.doubt)
}
