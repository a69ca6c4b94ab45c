package commands

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpExceptionsCommand() cli.Command {
	return cli.Command{
		Name: "dumpexceptions", Group: cli.GroupObjects, NeedsDump: true, Run: runDumpExceptions,
		Summary: "lists the exception objects of the heap, with message and innermost frame",
		Help:    "printexception prints one of them with its whole stack trace.",
		Options: append([]cli.Option{
			{Name: "live", Kind: cli.Bool, Summary: "only objects that something refers to"},
			{Name: "dead", Kind: cli.Bool, Summary: "only objects that nothing refers to"},
		}, filterOptions()...),
		Examples: []cli.Example{{Line: "dumpexceptions -type Timeout", Text: "exceptions of types whose name contains Timeout"}},
		Result:   []report.Part{report.ListOf[exceptionItem]("exceptions"), report.FieldOf[uint64]("count")},
	}
}

type exceptionItem struct {
	Address     report.Address `json:"address" doc:"the exception object"`
	MethodTable report.Address `json:"methodTable" doc:"its type"`
	Type        string         `json:"type" doc:"name of its type"`
	Message     *string        `json:"message,omitempty" doc:"its message; absent if it has none of its own"`
	Frame       string         `json:"frame,omitempty" doc:"innermost frame of its stack trace; absent if it was not thrown"`
}

func runDumpExceptions(c *cli.Context) error {
	if c.Bool("live") || c.Bool("dead") {
		return target.Unsupportedf("-live and -dead are not there yet: they need the object graph")
	}
	h, err := scannedHeap(c, false)
	if err != nil {
		return err
	}
	f, err := filterOf(c, h)
	if err != nil {
		return err
	}
	p := &exceptionLister{c: c, rt: h.Runtime()}
	p.texts.c, p.texts.rt = c, p.rt
	f.Type = p.exceptionTypes(f.Type)
	if c.JSON() == nil {
		c.Printf("%16s %16s %s %s\n", "Address", "MethodTable", "Message", "Name")
	} else if err := c.JSON().List("exceptions"); err != nil {
		return err
	}
	if err := eachObject(c, h, f, p.exception); err != nil {
		return err
	}
	if c.JSON() != nil {
		return c.JSON().Field("count", p.count)
	}
	c.Printf("\n    Total: %d objects\n", p.count)
	return nil
}

// An exceptionLister prints exceptions in short.
type exceptionLister struct {
	c     *cli.Context
	rt    *dac.Runtime
	texts exceptionPrinter
	count uint64
}

// exceptionTypes narrows a filter down to exceptions.
func (p *exceptionLister) exceptionTypes(also func(*dac.MethodTable) bool) func(*dac.MethodTable) bool {
	return func(mt *dac.MethodTable) bool {
		is, err := p.rt.IsException(mt)
		return err == nil && is && (also == nil || also(mt))
	}
}

func (p *exceptionLister) exception(o *heap.Object) error {
	p.count++
	item := exceptionItem{Address: report.Address(o.Addr), MethodTable: report.Address(o.Type.Addr), Type: typeNameOr(p.c, p.rt, o.Type.Addr)}
	e, err := p.rt.Exception(o.Addr)
	if err != nil {
		text := absent(p.c, err)
		item.Message = &text
	} else {
		item.Message = p.texts.text(e.Message)
		item.Frame = p.innermost(&e)
	}
	if p.c.JSON() != nil {
		return p.c.JSON().Item("exceptions", item)
	}
	message := "<null>"
	if item.Message != nil {
		message = report.EscapeText(*item.Message)
	}
	p.c.Printf("%16s %16s %s\n        Message: %s\n", report.Hex12(item.Address), report.Hex12(item.MethodTable), report.Escape(item.Type), message)
	if item.Frame != "" {
		p.c.Printf("        StackFrame: %s\n", report.Escape(item.Frame))
	}
	return nil
}

// innermost is the method of the first frame of a stack trace, empty if there
// is none.
func (p *exceptionLister) innermost(e *dac.Exception) string {
	frames, err := p.rt.StackTrace(e)
	if err != nil && len(frames) == 0 {
		return absent(p.c, err)
	}
	if len(frames) == 0 {
		return ""
	}
	md, err := code.Of(p.rt).MethodDesc(frames[0].Method)
	if err != nil {
		return absent(p.c, err)
	}
	name, err := code.Of(p.rt).MethodName(md, code.MethodFull)
	return textOr(p.c, name, err)
}
