// Package livetext writes the answers about running processes. It receives answers and cannot ask a process.
package livetext

import (
	"cmp"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/front/report"
)

// shortID is how many characters of a container's id are shown, as container tools do.
const shortID = 12

// Processes lists the processes, each with its command line, and the reason if it cannot be asked, below it.
func Processes(p *report.Page, a *answer.Processes) {
	if len(a.Processes) == 0 {
		p.Print("No .NET process was found.\n")
	} else {
		p.Printf("%7s  %-12s %-12s %11s %10s  %s\n", "PID", "RUNTIME", "USER", "AGE", "RSS", "NAME")
	}
	for i := range a.Processes {
		process(p, &a.Processes[i])
	}
	if a.Hidden > 0 {
		p.Printf("%s can't be examined: of other users, or protected. Root sees the most.\n", report.Count(uint64(a.Hidden), "process", "processes"))
	}
}

func process(p *report.Page, l *answer.LiveProcess) {
	rss, age := "-", "-"
	if l.Resident != nil {
		rss = report.Size(*l.Resident)
	}
	if l.Age.Err() == nil {
		age = report.Millis(int64(l.Age.Value * 1000))
	}
	p.Printf("%7d  %-12s %-12s %11s %10s  %s", l.PID, or(l.Runtime), or(l.User), age, rss, report.Escape(l.Name))
	if l.Container != "" {
		p.Printf("  container %s", report.Escape(l.Container[:min(len(l.Container), shortID)]))
	}
	if l.Inner != 0 {
		p.Printf("  process %d there", l.Inner)
	}
	p.Print("\n")
	if l.Command != "" {
		p.Printf("         %s\n", report.Escape(cut(l.Command)))
	}
	if !l.Answers {
		p.Printf("         can't be asked: %s\n", report.Escape(l.Unreachable))
		if l.Next != "" {
			p.Printf("         %s\n", report.Escape(l.Next))
		}
	}
}

// or returns a text, or a dash for an empty one.
func or(s string) string {
	if s == "" {
		return "-"
	}
	return report.Escape(s)
}

// cut shortens a command line.
func cut(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// Collected describes a new dump, and what is wrong with the process if that was asked for.
func Collected[O any](p *report.Page, a *answer.Collected, _ O) {
	file, size := a.File, uint64(a.Size)
	if a.Pack != nil {
		file = a.Pack.File
	}
	what := fmt.Sprintf("dump of kind %s, %s", a.Kind, report.Size(size))
	if a.Deleted {
		what += ", deleted"
	}
	p.Printf("%s: %s, written in %.1f s", report.Escape(file), what, float64(a.Took))
	if a.Copied {
		p.Print(" and copied")
	}
	p.Printf("\n%s (%d), .NET %s, %s\n", or(a.Process.Name), a.Process.PID, or(cmp.Or(a.Process.Runtime, a.Checked.Runtime)), report.Count(uint64(a.Checked.Threads), "thread", "threads"))
	if a.Inside != "" {
		p.Printf("in the process's file system: %s\n", report.Escape(a.Inside))
	}
	for _, old := range a.Removed {
		p.Printf("removed: %s, which a killed command had left\n", report.Escape(old))
	}
	if a.Pack != nil {
		processtext.Pack(p, a.Pack)
	}
	if a.Triage != nil {
		p.Print("\n")
		processtext.Triage(p, a.Triage)
	}
}
