package ask

import (
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/cli"
)

// A Form holds what SOS's form asks of the library differently from sosgo's own. Each field is an option of some call.
type Form struct {
	Paths       graph.PathOrder // which path shows what keeps an object alive
	Plain       bool            // objects without the elements of a collection and the state of a task
	Slots       bool            // elements as SOS lists them; see collections.Options
	FirstThread bool            // the first thread is the current one, and not the thread of the crash
	Now         bool            // the registers at the time of the dump, also of the thread that raised its exception
	Carried     bool            // registers that explicit frames do not know; see stackwalk.WalkOptions
	Extended    bool            // rows from behind the stack; see threads.ObjectOptions
	OneRuntime  bool            // the frames of one runtime, where the process has several
	NoAdvice    bool            // no warning that options choose nothing, and no exceptions of other threads
}

// FormOf returns the options that the form of the command's answer wants.
func FormOf(c *cli.Context) Form {
	if !c.SOS {
		return Form{}
	}
	return Form{Paths: graph.OrderSOS, Plain: true, Slots: true, FirstThread: true, Now: true, Carried: true, Extended: true,
		OneRuntime: true, NoAdvice: true}
}
