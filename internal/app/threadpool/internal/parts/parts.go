// Package parts has the parts of package threadpool that need no process, for tests.
package parts

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/target"
)

// NoWorker reports whether a thread that waits in a class of the pool is not a worker.
func NoWorker(class string, does threads.Activity) bool {
	return class == "System.Threading.PortableThreadPool+WaitThread" ||
		class != "System.Threading.PortableThreadPool+WorkerThread" && does == threads.ActivityIdle
}

// A Lister lists the items of queues.
type Lister struct {
	Most  int // maximum number of listed items, in all queues together
	items int // in all queues
}

// Add adds an item at a slot to a queue. An item beyond the limit is only counted, and the limit is noted in out.
func (l *Lister) Add(to *answer.WorkQueue, out *answer.Gaps, slot int, item func() answer.WorkItem) {
	to.Count++
	if l.items++; l.items > l.Most {
		if l.items == l.Most+1 {
			out.Note(target.Unsupportedf("more than %d queued items: the rest is only counted", l.Most))
		}
		return
	}
	to.Items = append(to.Items, item())
	to.Items[len(to.Items)-1].Slot = slot
}
