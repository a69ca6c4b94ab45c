package processtext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// StressLog is the text of dumplog.
func StressLog(p *report.Page, l *answer.StressLog) {
	if !l.Enabled {
		p.Print("The process kept no stress log: DOTNET_StressLog=1 makes the runtime keep one.\n")
		return
	}
	p.Print("STRESS LOG:\n")
	p.Printf("    facilitiesToLog      = %#x (%s)\n", l.Facilities, strings.Join(l.FacilityNames, " "))
	p.Printf("    levelToLog           = %d\n", l.Level)
	p.Printf("    MaxLogSizePerThread  = %#x (%s)\n", l.MaxPerThread, report.Size(uint64(l.MaxPerThread)))
	p.Printf("    MaxTotalLogSize      = %#x (%s)\n", l.MaxTotal, report.Size(uint64(l.MaxTotal)))
	p.Printf("    CurrentTotalLogChunk = %d\n", l.Chunks)
	p.Printf("    ThreadsWithLogs      = %d\n", l.Threads)
	p.Printf("    Clock frequency      = %.3f GHz\n\n", float64(l.Frequency)/1e9)
	p.Print("THREAD  TIMESTAMP     FACILITY              MESSAGE\n  ID  (sec from start)\n" + strings.Repeat("-", 86) + "\n")
	n := 0
	for m := range report.Each(p, l.Messages) {
		n++
		p.Printf("%4x %13.9f : %-20s %s\n", m.OSID, m.Seconds, "`"+strings.Join(m.Facilities, "`")+"`", report.Escape(m.Text.String()))
	}
	p.Printf("%s %d total entries %s\n", strings.Repeat("-", 28), n, strings.Repeat("-", 36))
}
