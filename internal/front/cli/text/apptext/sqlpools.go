package apptext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// SQLPools is the text of sqlpools: with stacks, with all frames of the async code.
func SQLPools(p *report.Page, a *answer.SQLPools, stacks bool) {
	defer sqlFailures(p, a)
	if len(a.Pools) == 0 {
		if len(a.Noted()) > 0 {
			p.Print("No connection pools found; some data could not be read.\n")
			return
		}
		p.Print("No connection pools of SqlClient or Npgsql, and no connections of SQLite found.\n")
		return
	}
	for i := range a.Pools {
		if i > 0 {
			p.Print("\n")
		}
		sqlPool(p, &a.Pools[i], stacks)
	}
}

func sqlPool(p *report.Page, a *answer.SQLPool, stacks bool) {
	if a.Address == 0 {
		p.Printf("no pool: %s", report.Escape(a.Type.String()))
	} else {
		p.Printf("%s %s", report.Hex12(a.Address), report.Escape(a.Type.String()))
	}
	if s := a.State.String(); s != "" && s != "Running" {
		p.Printf(" (%s)", report.Escape(s))
	}
	p.Printf("\n  %s\n", report.Escape(a.Connection.String()))
	p.Printf("  open %s", maybe(a.Open))
	if kept(a.Max) {
		p.Printf(" (max %s)", maybe(a.Max))
	}
	p.Printf(", busy %s", maybe(a.Busy))
	if kept(a.Idle) {
		p.Printf(", idle %s", maybe(a.Idle))
	}
	if kept(a.Waiting) {
		p.Printf(", waiting %s", maybe(a.Waiting))
	}
	if a.Blocked.Value {
		p.Print("; blocked after a failed connect: new attempts fail for a while")
	}
	p.Print("\n")
	if a.Exhausted {
		p.Print("  exhausted: all connections are busy, further requests wait\n")
	}
	for i := range a.Connections {
		sqlConnection(p, &a.Connections[i], stacks)
	}
	for i := range a.Opening {
		sqlOpening(p, a, &a.Opening[i], stacks)
	}
}

// sqlOpening describes a connection that the program opens.
func sqlOpening(p *report.Page, a *answer.SQLPool, o *answer.SQLOpening, stacks bool) {
	what := "waits for a connection"
	switch {
	case a.Waiting.Err != nil || a.Waiting.Value > 0 && a.Waiting.Value < int64(len(a.Opening)):
		what = "waits for a connection, or opens one"
	case a.Waiting.Value == 0:
		what = "opens a connection"
	}
	if o.Since.Err == nil {
		what += ", since " + o.Since.Value.Format(sqlTime)
	}
	if o.Deadline.Err == nil {
		what += ", until " + o.Deadline.Value.Format(sqlTime)
	}
	if missing(o.Since.Err) {
		what += ", since " + answer.Absent(o.Since.Err)
	}
	p.Printf("    %s %s\n", report.Hex12(o.Owner), what)
	sqlHolders(p, o.Threads, o.Stack, stacks)
}

// sqlFailures lists the commands that failed.
func sqlFailures(p *report.Page, a *answer.SQLPools) {
	if len(a.Failures) == 0 {
		return
	}
	p.Print("\nFailed commands, by the exceptions on the heap, also of calls that are over:\n")
	for i := range a.Failures {
		f := &a.Failures[i]
		p.Printf("    %s %s", report.Hex12(f.Object), report.Escape(f.Type.String()))
		if f.Code != "" {
			p.Printf(" %s", report.Escape(f.Code))
		}
		p.Print(report.Escape(messageOf(&f.TaskException)))
		if f.Count > 1 {
			p.Printf("  (%d like it)", f.Count)
		}
		p.Print("\n")
		if f.Command != nil {
			p.Printf("      command   %s [%s]\n", report.Escape(f.Command.Text.String()), f.Strength)
		}
		if f.Connection != 0 {
			p.Printf("      of        connection %s, pool %s\n", report.Hex12(f.Connection), report.Hex12(f.Pool))
		}
		if !f.Method.IsZero() {
			p.Printf("      thrown in %s\n", report.Escape(f.Method.String()))
		}
	}
	if a.MoreFailures > 0 {
		p.Printf("    and %d more exceptions\n", a.MoreFailures)
	}
}

// sqlTime is how times are written.
const sqlTime = "2006-01-02 15:04:05 MST"

func sqlConnection(p *report.Page, c *answer.SQLConnection, stacks bool) {
	var about []string
	add := func(format string, args ...any) { about = append(about, fmt.Sprintf(format, args...)) }
	if !c.State.IsZero() {
		add("%s", c.State)
	}
	if !c.Database.IsZero() {
		add("database %s", c.Database)
	}
	if missing(c.ProcessID.Err) || c.ProcessID.Value != 0 {
		add("process %s", maybe(c.ProcessID))
	}
	if missing(c.Transaction.Err) {
		add("in a transaction: %s", answer.Absent(c.Transaction.Err))
	} else if c.Transaction.Value {
		add("in a transaction")
	}
	if c.Opened != nil {
		add("opened %s", c.Opened.Format(sqlTime))
	}
	if c.Context != 0 {
		add("context %s %s", report.Hex12(c.Context), c.ContextType)
	}
	switch {
	case c.Owner.Err != nil:
		add("owner %s", answer.Absent(c.Owner.Err))
	case c.Owner.Value != 0:
		add("owner %s", report.Hex12(c.Owner.Value))
	default:
		add("leaked: its owner is gone without closing it")
	}
	p.Printf("    %s %s\n", report.Hex12(c.Address), report.Escape(strings.Join(about, ", ")))
	switch {
	case c.Command.Err != nil:
		p.Printf("      command %s\n", answer.Absent(c.Command.Err))
	case c.Command.Value == nil:
		p.Print("      no running command\n")
	default:
		sqlCommand(p, c.Command.Value)
	}
	sqlHolders(p, c.Threads, c.Stack, stacks)
}

// kept reports whether the driver keeps a value, also if it is missing.
func kept(n answer.Maybe[int64]) bool { return n.Err == nil || missing(n.Err) }

// missing reports whether a value is missing that the driver keeps.
func missing(err error) bool { return err != nil && !errors.Is(err, target.ErrUnsupported) }

func sqlCommand(p *report.Page, c *answer.SQLCommand) {
	kind := ""
	if !c.Running {
		kind = "no running command; last: "
	}
	if c.Procedure.Value {
		kind += "procedure "
	}
	p.Printf("      %s%s", kind, report.Escape(c.Text.String()))
	if t := timing(c); t != "" {
		p.Printf("  (%s)", t)
	}
	p.Print("\n")
	for _, v := range c.Parameters {
		p.Printf("        %s = %s\n", report.Escape(v.Name.String()), report.Escape(v.Value))
	}
}

// timing returns how long a command may take, and since when it runs.
func timing(c *answer.SQLCommand) string {
	var parts []string
	switch t := c.Timeout; {
	case t.Err != nil:
		parts = append(parts, "timeout "+answer.Absent(t.Err))
	case t.Value != nil && *t.Value > 0:
		parts = append(parts, fmt.Sprintf("timeout %d s", *t.Value))
	case t.Value != nil:
		parts = append(parts, "no timeout")
	}
	switch {
	case !c.Running:
	case c.Since.Err == nil:
		parts = append(parts, "since "+c.Since.Value.Format(sqlTime))
	case c.Deadline.Err == nil:
		parts = append(parts, "until "+c.Deadline.Value.Format(sqlTime))
	case missing(c.Since.Err):
		parts = append(parts, "since "+answer.Absent(c.Since.Err))
	default:
		parts = append(parts, "start time not recorded")
	}
	return strings.Join(parts, ", ")
}

// sqlHolders reports who has a connection in hand, or waits for one.
func sqlHolders(p *report.Page, threads []answer.Worker, work *answer.AsyncWork, stacks bool) {
	line := func(name, format string, args ...any) {
		p.Printf("      %-9s %s\n", name, report.Escape(fmt.Sprintf(format, args...)))
	}
	for i := range threads {
		line("thread", "%s", thread(&threads[i]))
	}
	if work != nil {
		stack(line, work, stacks)
	}
}
