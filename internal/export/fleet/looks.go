package fleet

import "time"

// MostLooks is how long fleet add looks into the objects of listings that have no name of a dump, one request for each. Only tests change it.
var MostLooks = 10 * time.Minute

// Looks bounds the time of such requests. The zero value is ready.
type Looks struct {
	now   func() time.Time // nil means time.Now
	spent time.Duration
}

// Look calls look, unless the time is up. It reports whether it did.
func (l *Looks) Look(look func()) bool {
	if l.spent >= MostLooks {
		return false
	}
	now := l.now
	if now == nil {
		now = time.Now
	}
	start := now()
	look()
	l.spent += now().Sub(start)
	return true
}
