package processcmd

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/modules"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/front/report"
)

type runtimeOptions struct {
	All     bool   `opt:"all,a" help:"list all runtimes (always done)"`
	NetCore bool   `opt:"netcore,c" help:"look at the first .NET Core runtime"`
	ID      string `arg:"id,optional" help:"number or version of the runtime to look at from now on"`
}

// chooses reports whether the options select a runtime.
func (o *runtimeOptions) chooses() bool { return o.ID != "" || o.NetCore }

func runtimesCommand() cli.Command {
	return cli.AskWith(cli.Command{Name: "runtimes", Aliases: []string{"setruntime"},
		Summary: "list the .NET runtimes of the process, or choose the one to look at",
		Help:    "Commands look at the first CoreCLR until another runtime is chosen, here for the session or by the global option --runtime.",
	}, askRuntimes, func(p *report.Page, list []answer.Runtime, o *runtimeOptions) {
		if o.chooses() {
			processtext.ChosenRuntime(p, list)
		} else {
			processtext.Runtimes(p, list)
		}
	})
}

func askRuntimes(c *cli.Context, o *runtimeOptions) ([]answer.Runtime, error) {
	if !o.chooses() {
		return modules.DescribeRuntimes(ask.Context(c), ask.View(c))
	}
	v, _ := ask.Dump(c).Process(o.ID) // the process keeps the error
	list, err := modules.DescribeRuntimes(ask.Context(c), v)
	if err == nil {
		c.Session.SetRuntime(o.ID)
	}
	return slices.DeleteFunc(list, func(r answer.Runtime) bool { return !r.Chosen }), err
}

func eeVersionCommand() cli.Command {
	return cli.Ask(cli.Command{Name: "eeversion", Summary: "print the version of the runtime and the kind of its GC"},
		ask.Plain(modules.EEVersion), processtext.EEVersion)
}
