package locks

import (
	"fmt"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A limiterState is what a rate limiter records.
type limiterState struct {
	queued int64 // permits that those in its queue ask for
	leased int64 // of a ConcurrencyLimiter: permits that are not free
	refill *refill
}

// A refill says how a rate limiter gets new permits in the course of time.
type refill struct {
	permits int64
	period  time.Duration
	itself  bool // by its timer; else code calls TryReplenish
}

// limiterOf returns the rate limiter that a promise belongs to, or nil.
func (s *survey) limiterOf(promise target.Addr) *thing {
	o, err := s.r.b.Objects().TrustedObject(promise)
	if err != nil {
		return nil
	}
	k, x, is, err := shapes.TryBind[*taskState](s.r.b, o)
	if !is || err != nil {
		return nil
	}
	if o, err = k.State.Object(x); err != nil || o.Addr == 0 {
		return nil
	}
	t := &thing{kind: answer.WaitLimiter, addr: o.Addr, limiter: &limiterState{}}
	is, err = s.bucketState(t, o)
	if !is {
		is, err = s.limiterState(t, o)
	}
	if !is {
		return nil
	}
	if s.gaps.Note(err); err != nil {
		t.limiter = nil
	}
	t.typ = s.gaps.Text(o.Type.ManagedName())
	return t
}

// bucketState reads a TokenBucketRateLimiter. is reports whether o is one.
func (s *survey) bucketState(t *thing, o objects.Object) (is bool, err error) {
	b, x, is, err := shapes.TryBind[*bucket](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	if t.limiter.queued, err = b.Queued.Int(x); err != nil {
		return true, err
	}
	t.state = words.PermitsQueued.Of(words.N(t.limiter.queued))
	if o, err = b.Options.Object(x); err == nil {
		t.limiter.refill, err = s.refillOf(o)
	}
	return true, err
}

// limiterState reads the counts of another rate limiter. is reports whether o is one.
func (s *survey) limiterState(t *thing, o objects.Object) (is bool, err error) {
	l, x, is, err := shapes.TryBind[*limiter](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	v, err := ints(x, &l.Permits, &l.Queued)
	if err != nil {
		return true, err
	}
	if o, err = l.Options.Object(x); err != nil {
		return true, err
	}
	k, x, err := objects.BindObject[*limiterOptions](s.r.b, o)
	if err != nil {
		return true, err
	}
	limit, err := ints(x, &k.Limit, &k.Queue)
	if err != nil {
		return true, err
	}
	t.limiter.queued, t.limiter.leased = v[1], limit[0]-v[0]
	t.state = words.PermitsLeased.Of(words.N(limit[0]-v[0]), words.N(limit[0]), words.N(v[1]), words.N(limit[1]))
	t.limiter.refill, err = s.refillOf(o)
	return true, err
}

// refillOf reads how a rate limiter with these options gets new permits, or returns nil if only its leases give them back.
func (s *survey) refillOf(options objects.Object) (*refill, error) {
	k, x, is, err := shapes.TryBind[*refillOptions](s.r.b, options)
	if !is || err != nil {
		return nil, err
	}
	v, err := ints(x, &k.Permits, &k.Ticks, &k.Itself)
	if err != nil {
		return nil, err
	}
	return &refill{permits: v[0], period: time.Duration(v[1]) * 100, itself: v[2] != 0}, nil
}

// last returns after how long the last in a queue for so many permits has its turn, if new ones come regularly.
func (r *refill) last(queued int64) time.Duration {
	turns := (queued + max(r.permits, 1) - 1) / max(r.permits, 1)
	if r.period > 0 && turns > int64(maxRefill/r.period) {
		return maxRefill
	}
	return time.Duration(turns) * r.period
}

// maxRefill bounds the times that last returns.
const maxRefill = 1 << 20 * time.Hour

// replenishes reports whether a call gives a rate limiter new permits.
func replenishes(method string) bool { return strings.HasSuffix(method, "RateLimiter.TryReplenish") }

// limiter adds to v, which says who waits for a rate limiter, why they do. It returns false if they have their turns soon.
func (g *grapher) limiter(v *answer.Verdict, t *thing, waiting int) (tells bool) {
	if waiting < fewOperations {
		v.Severity = answer.SeverityWarning
	}
	switch l := t.limiter; {
	case l == nil:
		v.Strength, v.Severity = answer.StrengthPossible, answer.SeverityWarning // its state is not known
		return true
	case l.queued == 0:
		return false // they have been given what they asked for
	case l.refill == nil:
		return g.leased(v, t, waiting)
	case l.refill.itself || g.s.partitioned(t.addr):
		last := l.refill.last(l.queued)
		v.Severity = answer.SeverityWarning
		v.Statement = v.Plus(words.LimiterRefills.Of(words.N(l.refill.permits), words.Duration(l.refill.period), words.Duration(last)))
		return last > patiently
	}
	return g.replenished(v, t, waiting)
}

// replenished judges a rate limiter that gets new permits only when code calls TryReplenish.
func (g *grapher) replenished(v *answer.Verdict, t *thing, waiting int) (tells bool) {
	is := signal{answer.WaitLimiter, t.addr}
	r, err := g.s.code.Callers(func(method string) (target.Addr, bool) { return t.addr, replenishes(method) })
	if err != nil {
		return false // the context's
	}
	if r != nil && !r.Outside && len(r.Threads) == 0 {
		v.Strength, v.Statement = answer.StrengthLikely, v.Plus(words.NobodyEnds.Of(words.Text("replenishes it")))
		return true
	}
	if missing := g.s.found.tasks.MissingIL(); missing.Methods > 0 && waiting < manyBlind {
		g.s.gaps.Note(fmt.Errorf("which code replenishes a rate limiter: %w", missing.Err))
		return false
	}
	if g.course().ends(is).moves {
		return false
	}
	v.Severity, v.Strength = answer.SeverityWarning, answer.StrengthPossible
	v.Statement = v.Plus(words.LimiterByHand.Of())
	return true
}

// partitioned reports whether a rate limiter is one of a PartitionedRateLimiter: the timer of that one replenishes all of them.
func (s *survey) partitioned(limiter target.Addr) bool {
	holder := s.inside[limiter]
	if holder == 0 {
		return false
	}
	class := s.typeOf(holder).S
	return strings.HasPrefix(class, "System.Threading.RateLimiting.DefaultPartitionedRateLimiter<") || strings.HasPrefix(class, "System.Lazy<")
}

// acquires reports whether a call may give a lease.
func acquires(method string) bool {
	name := method[strings.LastIndexByte(method, '.')+1:]
	return name == "AcquireAsync" || name == "AttemptAcquire"
}
