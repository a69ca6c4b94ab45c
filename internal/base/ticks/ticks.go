// Package ticks converts the times of .NET, in units of 100 nanoseconds. A DateTime counts them
// since the year 1. Clock estimates the time of the process's millisecond clock.
package ticks

import (
	"strconv"
	"strings"
	"time"
)

const (
	// PerSecond is the number of ticks in a second.
	PerSecond = 10_000_000
	// PerDay is the number of ticks in a day.
	PerDay = 86_400 * PerSecond
	// UnixEpoch is 1970-01-01 (DateTime.cs, UnixEpochTicks).
	UnixEpoch = 621_355_968_000_000_000
	// Max is the last tick of the year 9999 (DateTime.cs, MaxTicks).
	Max = 3_155_378_975_999_999_999
)

// Time converts ticks since the year 1 to a time in UTC.
func Time(ticks int64) time.Time {
	t := ticks - UnixEpoch
	return time.Unix(t/PerSecond, t%PerSecond*100).UTC()
}

// Of converts a time to ticks since the year 1.
func Of(t time.Time) int64 { return t.Unix()*PerSecond + int64(t.Nanosecond()/100) + UnixEpoch }

// Span formats ticks in TimeSpan's constant form: [-][d.]hh:mm:ss[.fffffff].
func Span(ticks int64) string {
	var b strings.Builder
	u := uint64(ticks)
	if ticks < 0 {
		b.WriteByte('-')
		u = -u
	}
	sec, frac := u/PerSecond, u%PerSecond
	if days := sec / 86400; days > 0 {
		b.WriteString(strconv.FormatUint(days, 10) + ".")
	}
	for i, v := range [...]uint64{sec / 3600 % 24, sec / 60 % 60, sec % 60} {
		if i > 0 {
			b.WriteByte(':')
		}
		pad(&b, v, 2)
	}
	if frac > 0 {
		b.WriteByte('.')
		pad(&b, frac, 7)
	}
	return b.String()
}

func pad(b *strings.Builder, v uint64, width int) {
	s := strconv.FormatUint(v, 10)
	b.WriteString(strings.Repeat("0", max(0, width-len(s))) + s)
}
