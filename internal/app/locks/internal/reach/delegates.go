package reach

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/target"
)

// maxDelegates bounds the delegates that are read.
const maxDelegates = 1 << 20

// A Delegate is a delegate on the heap with what it runs. A delegate for several methods is several.
type Delegate struct {
	Addr, On target.Addr
	Method   *dac.MethodDesc // nil if it is unknown
}

// Delegates returns the delegates of the heap, dead ones too. The error is set if there may be others.
func (c *Code) Delegates() ([]Delegate, error) {
	if c.delegates != nil || c.delegatesErr != nil {
		return c.delegates, c.delegatesErr
	}
	c.delegates = []Delegate{}
	list, err := tasks.Objects(c.ctx, c.Heap, c.isDelegate, maxDelegates)
	c.delegatesErr = err
	known := map[target.Addr]*dac.MethodDesc{}
	for _, a := range list {
		o, err := c.Binder.Objects().TrustedObject(a)
		if err != nil {
			c.delegatesErr = err
			break
		}
		calls, err := o.Delegate()
		if err != nil {
			c.delegatesErr = err
			break
		}
		for i := range calls {
			call := &calls[i]
			md, ok := known[call.Entry]
			if !ok || call.Entry == 0 {
				md, _ = call.Method() // nil stands for any
				known[call.Entry] = md
			}
			c.delegates = append(c.delegates, Delegate{a, call.Target, md})
		}
	}
	return c.delegates, c.delegatesErr
}

// isDelegate reports whether objects of a type are delegates. Objects of an unreadable type may be.
func (c *Code) isDelegate(mt *dac.MethodTable) bool {
	t, err := c.Binder.Objects().TrustedType(mt.Addr)
	return err != nil || tasks.IsDelegate(t)
}

// ByDelegate returns the delegates that live and lead to a call that is sought. A delegate of an unknown method may.
func (c *Code) ByDelegate(leads *tasks.Leads, sought tasks.Sought) (out []target.Addr) {
	for i := range c.delegates {
		if d := &c.delegates[i]; (d.Method == nil || d.leads(leads, sought)) && c.Lives(d.Addr) {
			out = append(out, d.Addr)
		}
	}
	return out
}

// SomeDelegate reports whether a delegate of a known method lives and leads to a call that is sought, apart from those that except selects.
func (c *Code) SomeDelegate(leads *tasks.Leads, sought tasks.Sought, except func(delegate target.Addr) bool) bool {
	list, err := c.Delegates()
	if err != nil {
		return false
	}
	for i := range list {
		if d := &list[i]; d.Method != nil && (except == nil || !except(d.Addr)) && d.leads(leads, sought) && c.Lives(d.Addr) {
			return true
		}
	}
	return false
}

// leads reports whether what a delegate of a known method runs leads to a call that is sought, or is what is called.
func (d *Delegate) leads(leads *tasks.Leads, sought tasks.Sought) bool {
	return leads.Has(d.Method) || d.makes(sought)
}

// makes reports whether a delegate is for the method of a call that is sought.
func (d *Delegate) makes(sought tasks.Sought) bool {
	name, err := tasks.NameOf(d.Method)
	on, ok := sought(name)
	return (ok || err != nil) && (on == 0 || d.On == on || err != nil && d.On == 0)
}
