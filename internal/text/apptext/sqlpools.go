package apptext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
)

// SQLPools is the text of sqlpools.
func SQLPools(p *report.Page, a *answer.SQLPools) {
	if len(a.Pools) == 0 {
		if len(a.Noted()) > 0 {
			p.Print("No pool of connections was found in what could be read.\n")
			return
		}
		p.Print("There is no pool of connections of SqlClient or Npgsql.\n")
		return
	}
	for i := range a.Pools {
		if i > 0 {
			p.Print("\n")
		}
		sqlPool(p, &a.Pools[i])
	}
}

func sqlPool(p *report.Page, a *answer.SQLPool) {
	p.Printf("%s %s", report.Hex12(a.Address), report.Escape(a.Type.String()))
	if s := a.State.String(); s != "" && s != "Running" {
		p.Printf(" (%s)", report.Escape(s))
	}
	p.Printf("\n  %s\n", report.Escape(a.Connection.String()))
	p.Printf("  open %s of at most %s, busy %s, idle %s, waiting %s", maybe(a.Open), maybe(a.Max), maybe(a.Busy), maybe(a.Idle), maybe(a.Waiting))
	if a.Blocked {
		p.Print("; the last attempt to connect failed, and all fail for a while")
	}
	p.Print("\n")
	if a.Max.Err == nil && a.Busy.Err == nil && a.Max.Value > 0 && a.Busy.Value >= a.Max.Value {
		p.Print("  all connections are busy: whoever wants one has to wait\n")
	}
	for i := range a.Connections {
		sqlConnection(p, &a.Connections[i])
	}
}

func sqlConnection(p *report.Page, c *answer.SQLConnection) {
	var about []string
	add := func(format string, args ...any) { about = append(about, fmt.Sprintf(format, args...)) }
	if c.State != "" {
		add("%s", c.State)
	}
	if !c.Database.IsZero() {
		add("database %s", c.Database)
	}
	if c.ProcessID != 0 {
		add("process %d", c.ProcessID)
	}
	if c.Transaction {
		add("in a transaction")
	}
	if c.Opened != nil {
		add("opened %s", c.Opened.Format("2006-01-02 15:04:05 MST"))
	}
	if c.Owner != 0 {
		add("owner %s", report.Hex12(c.Owner))
	} else {
		add("nobody has it any more: it was not closed")
	}
	p.Printf("    %s %s\n", report.Hex12(c.Address), report.Escape(strings.Join(about, ", ")))
	if c.Command == nil {
		p.Print("      no command runs on it\n")
		return
	}
	kind := ""
	if !c.Command.Running {
		kind = "no command runs on it; the last one was "
	}
	if c.Command.Procedure {
		kind += "procedure "
	}
	p.Printf("      %s%s", kind, report.Escape(c.Command.Text.String()))
	if t := c.Command.Timeout; t != nil && *t > 0 {
		p.Printf("  (timeout %d s)", *t)
	} else if t != nil {
		p.Print("  (no timeout)")
	}
	p.Print("\n")
	for _, v := range c.Command.Parameters {
		p.Printf("        %s = %s\n", report.Escape(v.Name.String()), report.Escape(v.Value))
	}
}
