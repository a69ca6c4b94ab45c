package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// codeInfoCommands are the commands about what is recorded beside code.
func codeInfoCommands() []cli.Command {
	return []cli.Command{gcInfoCommand(), ehInfoCommand(), clruCommand()}
}

// codeAt is the code at an address inside a method, or that of a MethodDesc:
// what runs when the method is called now. Of a method that was never compiled
// only Method is set.
func codeAt(rt *dac.Runtime, a target.Addr) (code.Info, error) {
	info, err := code.Of(rt).MethodAt(a)
	if err == nil && info.Method != nil {
		return info, nil
	}
	// The map of code may have holes where there is no code.
	m, err := code.Of(rt).MethodDesc(a)
	if err != nil {
		return code.Info{}, fmt.Errorf("%s is neither a MethodDesc nor in the code of a method: %w", a, err)
	}
	start, err := code.Of(rt).NativeCode(m)
	if err != nil {
		return code.Info{}, err
	}
	if start == 0 {
		return code.Info{Method: m}, nil
	}
	return code.Of(rt).MethodAt(start)
}

// noCode is the answer for a method that was never compiled: empty is its JSON
// form.
func noCode(c *cli.Context, text string, empty any) error {
	if e := c.JSON(); e != nil {
		return e.Value(empty)
	}
	c.Printf("%s\n", text)
	return nil
}

// methodLabel is the MethodDesc of code and its name.
func methodLabel(c *cli.Context, rt *dac.Runtime, info code.Info) (report.Address, string) {
	name, err := code.Of(rt).MethodName(info.Method, code.MethodFull)
	return report.Address(info.Method.Addr), textOr(c, name, err)
}
