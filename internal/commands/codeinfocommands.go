package commands

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// codeInfoCommands are the commands about what is recorded beside code.
func codeInfoCommands() []cli.Command {
	return []cli.Command{gcInfoCommand()}
}

// codeAt is the code at an address inside a method, or that of a MethodDesc:
// what runs when the method is called now.
func codeAt(rt *dac.Runtime, a target.Addr) (dac.CodeInfo, error) {
	info, err := rt.MethodAt(a)
	if err == nil && info.Method != nil {
		return info, nil
	}
	return dac.CodeInfo{}, err
}

// methodLabel is the MethodDesc of code and its name.
func methodLabel(c *cli.Context, rt *dac.Runtime, info dac.CodeInfo) (report.Address, string) {
	name, err := rt.MethodName(info.Method, dac.MethodFull)
	return report.Address(info.Method.Addr), textOr(c, name, err)
}
