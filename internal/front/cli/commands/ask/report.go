package ask

import (
	"errors"
	"slices"

	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/front/cli"
)

// ofReports are the commands that accept a crash report.
var ofReports = []string{"crashinfo", "clrstack", "clrthreads", "threads", "modules", "doctor", "summarize", "triage"}

// noReport returns an error if the dump is a crash report and the command needs memory.
func noReport(c *cli.Context) error {
	if c.Dump() == nil || slices.Contains(ofReports, c.Command.Name) {
		return nil
	}
	_, err := View(c).Instance()
	var none *crashreport.NoMemoryError
	if errors.As(err, &none) {
		return none
	}
	return nil
}
