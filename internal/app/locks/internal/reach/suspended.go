package reach

import (
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// OnlySuspended returns the suspended methods that may still make a call which is sought, if nothing else may: no thread, no delegate that lives, no library and
// no reflection. ok is false if others may, or that is not known. Methods with IL that except selects count as without a call that is sought; except may be nil.
// The error is the context's.
func (c *Code) OnlySuspended(sought tasks.Sought, except func(*metadata.Metadata, []byte) bool) (list []target.Addr, ok bool, err error) {
	if !c.whole() {
		return nil, false, c.ctx.Err()
	}
	leads, err := c.Leads(sought, except)
	if err != nil || leads.Open {
		return nil, false, c.ctx.Err()
	}
	frames, err := c.Frames()
	if err != nil {
		return nil, false, c.ctx.Err()
	}
	for _, f := range frames {
		if goes, err := c.Goes(f, leads); goes || err != nil {
			return nil, false, c.ctx.Err()
		}
	}
	set, known := c.Suspended()
	if _, err := c.Delegates(); err != nil || !known || len(c.ByDelegate(leads, sought)) > 0 {
		return nil, false, c.ctx.Err()
	}
	if reflects, err := c.reflecting(); err != nil || reflects == byProgram || reflects == byLibrary && leads.Unnamed {
		return nil, false, err
	}
	for _, name := range c.reflected {
		if leads.Called(name) {
			return nil, false, nil
		}
	}
	for m := range leads.Going(c.ctx, set) {
		if m == nil {
			return nil, false, c.ctx.Err()
		}
		list = append(list, m.Object)
	}
	return list, true, c.ctx.Err()
}
