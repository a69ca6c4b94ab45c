package shapes

import (
	"cmp"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
)

// The source of a token that ends something after a time. Its timer starts with what it limits.
type (
	cancellation struct {
		_     objects.Shape    `of:"System.Threading.CancellationTokenSource"`
		Timer objects.RefField `field:"_timer"`
	}
	queueTimer struct {
		_     objects.Shape    `of:"System.Threading.TimerQueueTimer"`
		Start objects.IntField `field:"_startTicks"`
		Due   objects.IntField `field:"_dueTime"`
	}
)

// Countdown returns for how long the timer of a CancellationTokenSource has run at clock, the newest time that the process recorded, and after how
// long it fires, in milliseconds. A timer that does not run, and an object without a timer, are not ok.
func (r Reading) Countdown(source objects.Object, clock answer.Maybe[int64]) (age, limit answer.Maybe[int64], ok bool) {
	s, x := BindAs[*cancellation](r, source)
	if s == nil {
		return age, limit, false
	}
	t, x := BindAt[*queueTimer](r, &s.Timer, x)
	if t == nil {
		return age, limit, false // no timeout
	}
	start := r.IntAt(&t.Start, x)
	limit = r.IntAt(&t.Due, x)
	if limit.Err() == nil && uint32(limit.Value) == stopped {
		return age, limit, false
	}
	if err := cmp.Or(start.Err(), clock.Err()); err != nil {
		return answer.Missing[int64](err), limit, true
	}
	return answer.Known(max(clock.Value-start.Value, 0)), limit, true
}

// stopped is the due time of a timer that does not run (Timeout.UnsignedInfinite).
const stopped = 1<<32 - 1
