package commands

import (
	"slices"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpDelegateCommand() cli.Command {
	return cli.Command{
		Name: "dumpdelegate", Aliases: []string{"getdelegatemethod"}, Group: cli.GroupObjects,
		Summary:   "list the methods that a delegate calls, with their targets",
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "address of the delegate"}},
		Result:    []report.Part{report.ListOf[delegateResult]("")},
		NeedsDump: true,
		Run:       runDumpDelegate,
	}
}

// A delegateResult is one call that a delegate makes.
type delegateResult struct {
	Delegate report.Address `json:"delegate" doc:"the delegate of this call: the one asked for, or one of its invocation list"`
	Target   report.Address `json:"target" doc:"object that the method is called on; of a static method the delegate itself"`
	Method   report.Address `json:"method" doc:"MethodDesc, 0x0 if it is not known"`
	Name     string         `json:"name,omitempty" doc:"the method"`
	Missing  string         `json:"missing,omitempty" doc:"why the method is not known"`
}

func runDumpDelegate(c *cli.Context) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	o, err := p.r.Object(a)
	if err != nil {
		return p.invalid(err)
	}
	calls, err := o.Delegate()
	if err != nil && len(calls) == 0 {
		name, nameErr := o.Type.Name()
		p.refuse("Object of type '" + report.Escape(textOr(c, name, nameErr)) + "' is not a delegate.\n")
		return err
	}
	if err != nil {
		c.Warn(err)
	}
	if c.JSON() != nil {
		return p.delegateJSON(calls)
	}
	if c.SOS {
		slices.Reverse(calls) // SOS lists the last call first
	}
	p.out.print("Target           Method           Name\n")
	for _, call := range calls {
		p.delegateCall(call)
	}
	return nil
}

// delegateMethod is the method of a call and its name.
func (p *objectPrinter) delegateMethod(call objects.DelegateCall) (target.Addr, string, error) {
	md, err := call.Method()
	if err != nil {
		return 0, "", err
	}
	name, err := code.Of(p.rt).MethodName(md, code.MethodFull)
	return md.Addr, name, err
}

func (p *objectPrinter) delegateCall(call objects.DelegateCall) {
	md, name, err := p.delegateMethod(call)
	if md == 0 {
		p.c.Warn(err)
		p.out.printf("%s (unknown)\n", report.Hex16(call.Target))
		return
	}
	p.out.printf("%s %s %s\n", report.Hex16(call.Target), report.Hex16(md), report.Escape(textOr(p.c, name, err)))
}

func (p *objectPrinter) delegateJSON(calls []objects.DelegateCall) error {
	if err := p.c.JSON().List(""); err != nil {
		return err
	}
	for _, call := range calls {
		res := delegateResult{Delegate: report.Address(call.Delegate), Target: report.Address(call.Target)}
		md, name, err := p.delegateMethod(call)
		if err != nil {
			p.c.Warn(err)
			res.Missing = err.Error()
		}
		res.Method, res.Name = report.Address(md), name
		if err := p.c.JSON().Item("", res); err != nil {
			return err
		}
	}
	return nil
}
