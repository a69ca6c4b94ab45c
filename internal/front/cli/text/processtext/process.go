package processtext

import (
	"fmt"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// shownValue is how many characters of a value are shown: lists of assemblies have thousands.
const shownValue = 200

// Process is the text of process.
func Process(p *report.Page, a *answer.Process) {
	const form = "2006-01-02 15:04:05 UTC"
	fact(p, "Process:", "%s%s", processID(a.PID), prefixed(", ", a.Command))
	if a.Taken != nil {
		fact(p, "Dump:", "written %s", a.Taken.UTC().Format(form))
	}
	if a.Started != nil {
		fact(p, "Started:", "%s", a.Started.UTC().Format(form))
	}
	if a.Uptime.Err == nil {
		fact(p, "Up:", "%s", (time.Duration(float64(a.Uptime.Value) * float64(time.Second))).Round(time.Second))
	}
	namedValues(p, "Command line", a.Arguments)
	namedValues(p, "Environment", a.Environment)
	namedValues(p, "Properties of AppContext", a.Properties)
	namedValues(p, "Switches of AppContext", a.Switches)
	for i := range a.Configurations {
		c := &a.Configurations[i]
		p.Printf("\nConfiguration %s %s, %s:\n", report.Hex12(c.Address), report.Escape(c.Type.String()), text.Count(uint64(len(c.Providers)), "provider", "providers"))
		for _, provider := range c.Providers {
			p.Printf("  from %s\n", report.Escape(provider))
		}
		for k := range c.Keys {
			key := &c.Keys[k]
			over := ""
			if key.Overridden > 0 {
				over = fmt.Sprintf(", overrides %d", key.Overridden)
			}
			p.Printf("  %s = %s (%s%s)\n", report.Escape(key.Name), shown(&key.NamedValue), report.Escape(key.Provider), over)
		}
	}
	if len(a.Absent) > 0 {
		p.Print("\nNot answered:\n")
	}
	for _, f := range a.Absent {
		p.Printf("  %s: %s\n", f.What, report.Escape(f.Reason))
	}
}

func namedValues(p *report.Page, title string, list []answer.NamedValue) {
	if len(list) > 0 {
		p.Printf("\n%s:\n", title)
	}
	for i := range list {
		p.Printf("  %s = %s\n", report.Escape(list[i].Name), shown(&list[i]))
	}
}

// shown returns a value on one line, its beginning if it is long.
func shown(v *answer.NamedValue) string {
	s := []rune(v.Value.String())
	if len(s) > shownValue {
		return report.Escape(string(s[:shownValue])) + fmt.Sprintf("… (%s)", text.Count(uint64(len(s)), "character", "characters"))
	}
	return report.Escape(string(s))
}
