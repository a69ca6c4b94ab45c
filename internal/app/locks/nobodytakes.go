package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// maxEnumerators bounds the enumerators of BlockingCollections that are looked at.
const maxEnumerators = 1 << 12

// enumerators begins the names of the types of the enumerators that GetConsumingEnumerable and the partitioner of Parallel make.
const enumerators = "System.Collections.Concurrent.BlockingCollection`1+<"

// nobodyTakes adds to the conclusion that threads wait for room in a collection whether code that can still run takes from it, if no thread is known to do
// so again and again.
func (g *grapher) nobodyTakes(v *answer.Verdict, collection target.Addr) {
	if !g.s.noneTakes(collection) {
		v.Statement = v.Plus(words.NobodyTakes.Of())
		return
	}
	v.Statement, v.Strength = v.Plus(words.NoneTakes.Of()), answer.StrengthLikely
	v.Rests = words.Searched
	v.Because(words.SignalsIL.Of())
}

// noneTakes reports whether no code that can still run takes from a collection. It is not known where code could not be read.
func (s *survey) noneTakes(collection target.Addr) bool {
	r, err := s.reaching(func(method string) (target.Addr, bool) {
		if strings.HasPrefix(method, "BlockingCollection") && strings.HasSuffix(method, "FromAny") { // its argument is an array of them
			return 0, true
		}
		return collection, takes(method)
	})
	return err == nil && r != nil && !r.outside && len(r.threads) == 0 && !s.enumerated(collection)
}

// enumerated reports whether an enumerator lives that takes from a collection. Code that has it takes without a call on the collection.
func (s *survey) enumerated(collection target.Addr) bool {
	list, err := tasks.Objects(s.ctx, s.r.heap, func(mt *dac.MethodTable) bool {
		t, err := s.r.b.Objects().TrustedType(mt.Addr)
		if err != nil {
			return true // it can't be excluded
		}
		name, err := s.r.b.Definition(t)
		return err != nil || strings.HasPrefix(name, enumerators)
	}, maxEnumerators)
	return err != nil || slices.ContainsFunc(list, func(a target.Addr) bool {
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			return true
		}
		for _, v := range o.Fields() {
			if of, err := v.Addr(); err == nil && of == collection {
				return s.lives(a)
			}
		}
		return false
	})
}
