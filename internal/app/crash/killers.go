package crash

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
)

// killers names the threads that stand in a call that sends signals, if the process sent itself one. Mostly no thread does: the call returns at once.
func (d *describer) killers() answer.Statement {
	if d.ctx == nil || d.rt == nil {
		return answer.Statement{}
	}
	walker, err := d.walker()
	if err != nil {
		return answer.Statement{} // stack notes it
	}
	var list []answer.Statement
	for i := range d.died.list {
		t := &d.died.list[i]
		if t.Managed == nil || t.OS == nil {
			continue
		}
		a := threads.ActivityOf(t, walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
		if a.Called == nil {
			continue
		}
		if name, err := dac.CodeOf(d.rt).MethodName(a.Called, dac.MethodQualified); err == nil && sendsSignals(name) {
			list = append(list, words.StandsInKill.Of(threadSays(t), words.Method(name)))
		}
	}
	return words.Join("", list...)
}

// sendsSignals reports whether a native method has the name of a function of the C library that sends a signal to a process, or of the runtime's own for it.
func sendsSignals(method string) bool {
	return slices.Contains([]string{"kill", "sigqueue", "Interop+Sys.Kill"}, method) || strings.HasSuffix(method, ".kill") || strings.HasSuffix(method, ".sigqueue")
}
