package tasktext

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Timers is the text of timerinfo.
func Timers(p *report.Page, t *answer.Timers) {
	if p.SOS {
		sosTimers(p, t)
		return
	}
	for i := range t.Timers {
		timer(p, &t.Timers[i])
	}
	if t.Lost != nil {
		p.Print(report.Count(uint64(len(t.Timers)), "timer", "timers") + "; others can't be read\n")
		return
	}
	p.Print(report.Count(uint64(len(t.Timers)), "timer", "timers") + "\n")
}

func timer(p *report.Page, t *answer.Timer) {
	p.Printf("%s %s: %s\n", report.Hex12(t.Address), t.Kind, when(t))
	if t.Method.S != "" || t.Method.Err != nil {
		p.Printf("    calls %s\n", report.Escape(t.Method.String()))
	}
	switch {
	case len(t.StateLine) > 0:
		p.Printf("    with %s\n", report.Escape(t.StateLine.Cut(lineChars)))
	case t.State != 0 && t.State != t.Owner:
		p.Printf("    with %s %s\n", report.Escape(t.StateType.String()), report.Hex12(t.State))
	}
	if t.Owner != 0 {
		p.Printf("    belongs to %s\n", belongs(t))
	}
	if !t.Awaits.IsZero() {
		p.Printf("    awaited by %s\n", report.Escape(t.Awaits.String()))
	}
	if t.Running > 0 {
		p.Printf("    its callback runs on %s\n", report.Count(uint64(t.Running), "thread", "threads"))
	}
	if c := t.Cancels; c != nil {
		tokenSource(p, c)
	}
}

func belongs(t *answer.Timer) string {
	if t.Owner == t.State {
		return report.Escape(t.StateType.String()) + " " + report.Hex12(t.Owner)
	}
	return report.Hex12(t.Owner)
}

func tokenSource(p *report.Page, c *answer.TokenSource) {
	p.Printf("    cancels %s %s (%s)\n", report.Escape(c.Type.String()), report.Hex12(c.Address), c.State)
	for i := range c.Callbacks {
		k := &c.Callbacks[i]
		with := ""
		switch {
		case !k.Text.Blank():
			with = " with " + report.Escape(k.Text.Cut(lineChars))
		case k.State != 0:
			with = " with " + report.Escape(k.Type.String()) + " " + report.Hex12(k.State)
		}
		p.Printf("        then calls %s%s\n", report.Escape(k.Method.String()), with)
	}
	if n := c.Total - uint64(len(c.Callbacks)); n > 0 {
		p.Printf("        and %s more\n", report.Commas(n))
	}
}

// when returns when a timer is due. The dump may be later than the newest known time.
func when(t *answer.Timer) string {
	words := "after " + report.Millis(int64(t.Due))
	switch {
	case t.DueIn.Err() != nil:
	case t.DueIn.Value < 0:
		words += fmt.Sprintf(", at least %s late", report.Millis(-t.DueIn.Value))
	default:
		words += fmt.Sprintf(", due within %s", report.Millis(t.DueIn.Value))
	}
	if t.Period == nil {
		return words + ", once"
	}
	return words + ", every " + report.Millis(int64(*t.Period))
}

// sosTimers is SOS's form: by period, and in that as in the queues. SOS finds no method for a callback that is static.
func sosTimers(p *report.Page, t *answer.Timers) {
	list := slices.Clone(t.Timers)
	slices.SortStableFunc(list, func(a, b answer.Timer) int { return cmp.Or(cmp.Compare(sosPeriod(&a), sosPeriod(&b)), a.Place-b.Place) })
	counts, order := map[string]int{}, []string{}
	for i := range list {
		timer := &list[i]
		p.Printf("%s 0x%016X %s %s\n", sosList(timer), uint64(timer.Address), sosTimes(timer), sosCall(timer, " "))
		line := sosList(timer) + " " + sosTimes(timer) + " " + sosCall(timer, "")
		if counts[line]++; counts[line] == 1 {
			order = append(order, line)
		}
	}
	p.Printf("\n   %d timers\n-----------------------------------------------\n", len(t.Timers))
	slices.SortStableFunc(order, func(a, b string) int { return counts[a] - counts[b] })
	for _, line := range order {
		p.Printf("%4d | %s\n", counts[line], line)
	}
}

func sosPeriod(t *answer.Timer) uint32 {
	if t.Period == nil {
		return math.MaxUint32
	}
	return *t.Period
}

func sosList(t *answer.Timer) string {
	if t.Short {
		return "(S)"
	}
	return "(L)"
}

func sosTimes(t *answer.Timer) string {
	period := "  ------"
	if t.Period != nil {
		period = fmt.Sprintf("%8d", *t.Period)
	}
	return fmt.Sprintf("@%8d ms every %s ms |", t.Due, period)
}

func sosCall(t *answer.Timer, space string) string {
	method := report.Escape(t.OnTarget)
	typ := report.Escape(t.StateType.String())
	return fmt.Sprintf("%s%016X (%s) -> %s", space, uint64(t.State), strings.TrimSpace(typ), method)
}
