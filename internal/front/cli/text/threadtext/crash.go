package threadtext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// CrashOptions choose how a crash is written.
type CrashOptions struct {
	Lines bool // write places in the source in SOS's form too
}

// Crash is the text of crashinfo.
func Crash(p *report.Page, x *answer.Crash, o CrashOptions) {
	if x.Record != nil {
		crashRecord(p, x.Record)
		return
	}
	if p.SOS && x.Alive {
		p.Print("No crash info to display\n")
		return
	}
	w := crashWriter{p: p, o: o}
	w.head(x)
	w.verdicts(x.Verdicts)
	w.contexts(x)
	w.exceptions(x)
	w.carried(x)
	w.stack(x)
	w.waiting(x.Waiting)
}

// A crashWriter writes the page of a crash of CoreCLR, or of a living process.
type crashWriter struct {
	p *report.Page
	o CrashOptions
}

func (w *crashWriter) line(label, text string) {
	if text != "" {
		w.p.Printf("%-14s %s\n", label, report.Escape(text))
	}
}

// head writes the crash record.
func (w *crashWriter) head(x *answer.Crash) {
	w.line("Reason:", x.Reason)
	if x.Code != "" {
		text := x.Code
		if x.Address.Err() == nil {
			text += " at " + report.Hex16(x.Address.Value)
		}
		if x.Where != "" {
			text += " in " + x.Where
		}
		w.line("Code:", text)
	}
	for i := range x.Records {
		w.record(&x.Records[i], i)
	}
	if t := x.Touched; t != nil {
		access := t.Access
		if access == "" {
			access = "access"
		}
		w.line("Touched:", fmt.Sprintf("%s of %s: %s (%s)", access, report.Hex16(t.Address), t.What, t.Source))
	}
	if x.ThreadID != 0 {
		w.line("Thread:", strings.TrimSuffix(fmt.Sprintf("0x%x %s", x.ThreadID, x.ThreadName), " "))
	}
	w.line("Likely cause:", x.Likely)
}

// record is an exception record; the first is the dump's.
func (w *crashWriter) record(r *answer.ExceptionRecord, i int) {
	label := "Record:"
	if i > 0 {
		label = "follows from:"
	}
	text := fmt.Sprintf("0x%08x", uint64(r.Code))
	if r.Name != "" {
		text += " " + r.Name
	}
	if i > 0 {
		text += " at " + report.Hex16(r.Address)
	}
	w.line(label, text)
	for k, v := range r.Parameters {
		name := v.Name
		if name != "" {
			name = " " + name
		}
		value := uint64(v.Value)
		if v.Name == "HRESULT" || v.Name == "status" { // 32 bits, sign-extended
			value = uint64(uint32(value))
		}
		text := fmt.Sprintf("[%d]%s 0x%x", k, name, value)
		if v.Words != "" {
			text += " (" + v.Words + ")"
		}
		w.line("  parameter", text)
	}
}

// verdicts are what is concluded, each with its evidence.
func (w *crashWriter) verdicts(list []answer.Verdict) {
	if len(list) > 0 {
		w.p.Print("\nConclusions:\n")
	}
	for i := range list {
		v := &list[i]
		w.p.Sentence("    ", 6, fmt.Sprintf("%s [%s]", report.Escape(v.Text), v.Strength))
		for _, e := range v.Evidence {
			w.p.Sentence("      - ", 8, report.Escape(e))
		}
	}
}

// contexts are where the thread stood.
func (w *crashWriter) contexts(x *answer.Crash) {
	if len(x.Contexts) > 0 {
		w.p.Print("\nThread context:\n")
	}
	for i := range x.Contexts {
		c := &x.Contexts[i]
		where := ""
		if c.Where != "" {
			where = "  " + report.Escape(c.Where)
		}
		w.p.Printf("    ip %s sp %s fp %s%s  (%s)\n", pointer(c.IP), pointer(c.SP), pointer(c.FP), where, c.Source)
	}
}

func pointer(a answer.Maybe[target.Addr]) string {
	if a.Err() != nil {
		return answer.Absent(a.Err())
	}
	return report.Hex16(a.Value)
}

// object returns the address of an exception. A crash report may have none.
func object(a target.Addr) string {
	if a == 0 {
		return answer.Absent(target.ErrNotInDump)
	}
	return report.Hex16(a)
}

// exceptions are the exception and its causes, as a tree where there are branches.
func (w *crashWriter) exceptions(x *answer.Crash) {
	number := make([]string, len(x.Exceptions))
	for i := range x.Exceptions {
		e := &x.Exceptions[i]
		label := "Caused by:"
		if i == 0 {
			label = "Exception:"
		}
		w.p.Printf("\n%s %s%s %s\n", label, number[i], object(e.Address), report.Escape(e.Type.String()))
		if e.Message != nil {
			w.p.Printf("    %s\n", report.EscapeLines(e.Message.String(), len("        ")))
		}
		trace(w.p, e, w.o.Lines)
		if i < len(x.Causes) {
			w.causes(x, i, number)
		}
		for _, u := range x.Omitted {
			if u.Exception == i {
				w.p.Printf("Other causes: %s\n", answer.Absent(u.Err))
			}
		}
	}
}

// causes numbers the causes of exception i, if there are several.
func (w *crashWriter) causes(x *answer.Crash, i int, number []string) {
	list := x.Causes[i]
	if len(list) < 2 {
		if len(list) == 1 && list[0] > i && number[list[0]] == "" {
			number[list[0]] = number[i]
		}
		return
	}
	w.p.Printf("%s causes:\n", report.Commas(uint64(len(list))))
	for k, n := range list {
		text := ""
		if m := x.Exceptions[n].Message; m != nil {
			text = ": " + report.Escape(m.String())
		}
		w.p.Printf("    #%d %s%s\n", k+1, report.Escape(x.Exceptions[n].Type.String()), text)
		if n > i && number[n] == "" {
			number[n] = fmt.Sprintf("#%d ", k+1)
			if number[i] != "" {
				number[n] = fmt.Sprintf("%s.%d ", strings.TrimSpace(number[i]), k+1)
			}
		}
	}
}

// carriedWords describe how a thread has an exception.
var carriedWords = map[answer.CarriedState]string{
	answer.CarriedUnhandled: "not handled",
	answer.CarriedHandling:  "being handled",
	answer.CarriedLast:      "last thrown, no longer handled",
	answer.CarriedFatal:     "preallocated by the runtime, set for a fatal error",
	answer.CarriedReported:  "handled, or thrown last",
}

// carried are the exceptions of all threads.
func (w *crashWriter) carried(x *answer.Crash) {
	if len(x.Carried) > 0 {
		w.p.Print("\nExceptions of all threads:\n")
	}
	for i := range x.Carried {
		carried(w.p, &x.Carried[i])
	}
}

// carried is a line about an exception that a thread has.
func carried(p *report.Page, c *answer.CarriedException) {
	text := ""
	if c.Message != nil {
		text = ": " + report.Escape(c.Message.String())
	}
	p.Printf("    %s %s %s%s (%s)\n", threadName(&c.Thread), object(c.Exception), report.Escape(c.Type.String()), text, carriedWords[c.State])
}

// threadName returns a thread by its numbers and its name.
func threadName(t *answer.Thread) string {
	text := fmt.Sprintf("%s 0x%x", index(t), t.OSID)
	if t.Name != "" {
		text += " " + answer.Quote(t.Name)
	}
	return text
}

// stack is the stack of the thread that died. Of frames that repeat themselves the first round is written.
func (w *crashWriter) stack(x *answer.Crash) {
	if len(x.Stack) > 0 {
		title := "Managed stack"
		if x.StacksOnly {
			title = "Stack"
		}
		w.p.Printf("\n%s of the thread", title)
		if folded := x.Frames; folded > len(x.Stack) {
			w.p.Printf(" (%s frames)", report.Commas(uint64(folded)))
		}
		w.p.Print(":\n")
	}
	inside, long := 0, false // frames of the circle that are to come, and whether it has several
	for i := range x.Stack {
		f := &x.Stack[i]
		where := place(f.File, f.Line)
		if f.Guess != "" {
			where += " (found by " + f.Guess + ")"
		}
		if f.AtException {
			where += atException
		}
		if f.Cycle > 0 {
			inside, long = f.Cycle, f.Cycle > 1
			if long {
				w.p.Printf("    %s times these %d frames:\n", report.Commas(uint64(f.Repeat)), inside)
			} else {
				where += fmt.Sprintf(" (%s times)", report.Commas(uint64(f.Repeat)))
			}
		}
		indent := "    "
		if long {
			indent = "      | "
		}
		w.p.Printf("%s%s %s %s%s\n", indent, report.Hex16(f.SP), report.Hex16(f.IP), report.Escape(f.Method.String()), where)
		if inside--; inside <= 0 {
			long = false
		}
	}
}

// unfolded is how many threads are written each by its name where they have the same to say.
const unfolded = 8

// namesOf returns the names of n threads. Of more than unfolded, all but the first three are a number.
func namesOf(n int, thread func(i int) *answer.Thread) string {
	named := n
	if n > unfolded {
		named = 3
	}
	names := make([]string, named)
	for i := range names {
		names[i] = threadName(thread(i))
	}
	text := strings.Join(names, ", ")
	if n > named {
		text += " and " + report.Commas(uint64(n-named)) + " more"
	}
	return text
}

// doing is what a thread does, in words.
func doing(t *answer.WaitingThread) string {
	text := report.Escape(t.Text)
	if t.Monitor != 0 {
		text += " of " + report.Hex16(t.Monitor)
	}
	switch c := report.Escape(t.Caller.String()); {
	case t.Caller.S == "":
	case t.Kind == answer.ActivityUnknown: // of other methods the names can't be read
		text += ", but for " + c
	default:
		text += " in " + c
	}
	return text
}

// waiting is what the threads of a living process do. Threads that do the same are one line, if they are many.
func (w *crashWriter) waiting(x *answer.Waiting) {
	if x == nil {
		return
	}
	w.p.Print("\nThread activity:\n")
	same := map[string][]int{} // the threads with the same words, in order
	for i := range x.Threads {
		does := doing(&x.Threads[i])
		same[does] = append(same[does], i)
	}
	for i := range x.Threads {
		does := doing(&x.Threads[i])
		alike := same[does]
		switch {
		case len(alike) <= unfolded:
			w.p.Printf("    %s: %s\n", threadName(&x.Threads[i].Thread), does)
		case alike[0] == i:
			w.p.Printf("    %s: %s\n", namesOf(len(alike), func(k int) *answer.Thread { return &x.Threads[alike[k]].Thread }), does)
		}
	}
	if len(x.Monitors) > 0 {
		w.p.Print("\nContended monitors:\n")
	}
	for i := range x.Monitors {
		m := &x.Monitors[i]
		owner := "a thread that has ended"
		if m.Owner != nil {
			owner = threadName(m.Owner)
		}
		found := ""
		if len(m.Waiting) > 0 {
			found = ": " + namesOf(len(m.Waiting), func(k int) *answer.Thread { return &m.Waiting[k] })
		}
		w.p.Printf("    %s %s owned by %s, %s waiting%s\n", report.Hex16(m.Object), report.Escape(m.Type.String()), owner,
			report.Commas(uint64(m.Waiters)), found)
	}
	if slices.ContainsFunc(x.Threads, func(t answer.WaitingThread) bool { return t.Waits() }) {
		w.p.Print("\nSee waits for chains of waits, locks for owners.\n")
	}
}

const recordRule = "-----------------------------------------------"

// crashRecord writes what a NativeAOT process wrote about its crash. SOS has the exception three times: as the current
// one, as the thread's, and as a list of all that are nested in it.
func crashRecord(p *report.Page, r *answer.CrashRecord) {
	p.Printf("CrashReason:        %s\n", r.Reason)
	p.Printf("ThreadId:           %04X\n", r.Thread)
	p.Printf("HResult:            %04X\n", r.HResult)
	p.Printf("RuntimeType:        %s\n", r.RuntimeType)
	p.Printf("RuntimeBaseAddress: %s\n", report.Hex16(r.RuntimeBase))
	p.Printf("RuntimeVersion:     %s\n", report.Escape(r.RuntimeVersion))
	p.Printf("Message:            %s\n", text.Message(p, r.Message, len("Message:            ")))
	if r.Exception == nil {
		return
	}
	p.Print("\n** Current Exception **\n\n")
	recorded(p, r.Exception, "")
	if !p.SOS {
		return
	}
	p.Printf("\n** Thread %d Exception **\n\n", r.Thread)
	recorded(p, r.Exception, "")
	p.Print("\n** Nested Exceptions **\n\n")
	recorded(p, r.Exception, "")
	for i := range r.Exception.Inners {
		recorded(p, &r.Exception.Inners[i], "")
	}
}

func recorded(p *report.Page, x *answer.RecordedException, indent string) {
	p.Printf("%s%s\n", indent, recordRule)
	p.Printf("%sException object:   %s\n", indent, report.Hex16(x.Address))
	p.Printf("%sException type:     %s\n", indent, report.Escape(x.Type.String()))
	p.Printf("%sHResult:            %08X\n", indent, uint64(x.HResult))
	p.Printf("%sMessage:            %s\n", indent, textOrNone(p, x.Message, len(indent)+len("Message:            ")))
	p.Printf("%sStackTrace:\n%s    IP               Function\n", indent, indent)
	for i := range x.Frames {
		f := &x.Frames[i]
		offset := uint64(0)
		if f.Offset != nil {
			offset = *f.Offset
		}
		p.Printf("%s    %s %s + 0x%X\n", indent, report.Hex16(f.IP), report.Escape(f.Function.String()), offset)
	}
	if len(x.Inners) > 0 {
		p.Printf("%sInnerExceptions:\n", indent)
	}
	for i := range x.Inners {
		recorded(p, &x.Inners[i], indent+"    ")
	}
}

// Greeting returns the prompt's first lines about a crash. They are not escaped.
func Greeting(x *answer.Crash) []string {
	if x == nil {
		return nil
	}
	if x.Alive && x.Waiting != nil {
		return []string{monitorWaits(len(x.Waiting.Monitors))}
	}
	if x.Record != nil {
		return []string{fmt.Sprintf("crash: %s: %s", x.Record.Reason, x.Record.Message)}
	}
	var out []string
	if x.Reason != "" {
		out = append(out, "crash: "+x.Reason)
	}
	if len(x.Exceptions) == 0 {
		return out
	}
	line := "exception: " + x.Exceptions[0].Type.S
	if n := len(x.Verdicts); n > 0 && x.Verdicts[n-1].Strength == answer.StrengthLikely {
		line = "likely " + line
	}
	if m := x.Exceptions[0].Message; m != nil && m.Err == nil {
		line += ": " + beginning(m.S)
	}
	return append(out, line, "crashinfo shows more")
}

// monitorWaits names the commands that show why threads wait for n monitors.
func monitorWaits(n int) string {
	if n == 1 {
		return "threads wait for a monitor held by another: see waits and locks"
	}
	return fmt.Sprintf("threads wait for %d monitors held by others: see waits and locks", n)
}

// beginning returns as much of a message as the greeting shows.
func beginning(s string) string {
	const most = 200 // characters
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}
