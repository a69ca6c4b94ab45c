package commands

import (
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/crash"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
)

// Greeting is what the prompt says of a dump before anything was asked: why
// the process died, if it did. What can't be read is left to crashinfo.
func Greeting(d cli.Dump, runtime string) []string {
	opened, ok := d.(*sosgo.Dump)
	if !ok {
		return nil
	}
	v, _ := opened.View(runtime) // it keeps the error
	died, _ := v.Crash()         // crashinfo tells what failed
	if died == nil {
		return nil
	}
	if r := died.Record; r != nil {
		return []string{fmt.Sprintf("crash: %s: %s", wordOf(recordReasons, r.Reason), r.Message)}
	}
	var out []string
	if died.Exception != nil {
		out = append(out, "crash: "+crash.Reason(died.Exception))
	}
	rt, err := v.Runtime()
	if err != nil || died.Thrown == 0 {
		return out
	}
	e, err := rt.Exception(died.Thrown)
	if err != nil {
		return out
	}
	name, err := rt.TypeName(e.Type.Addr, dac.NameManaged)
	if err != nil {
		return out
	}
	text := ""
	if e.Message != 0 {
		if s, err := rt.StringAt(e.Message, greetingText); err == nil {
			text = ": " + s
		}
	}
	return append(out, "exception: "+name+text, "crashinfo tells more")
}

// greetingText is how much of a message the greeting shows, in UTF-16 units.
const greetingText = 200
