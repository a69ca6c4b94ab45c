package processcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/report"
)

func runtimesCommand() cli.Command {
	return cli.Command{Name: "runtimes", Aliases: []string{"setruntime"}, Group: cli.GroupProcess,
		Summary: "list the .NET runtimes of the process, or choose the one to look at",
		Help:    "Commands look at the first CoreCLR until another runtime is chosen, here for the session or by the global option --runtime.",
		Args:    []cli.Arg{{Name: "id", Kind: cli.Str, Optional: true, Summary: "number or version of the runtime to look at from now on"}},
		Options: []cli.Option{
			{Name: "all", Aliases: []string{"a"}, Summary: "list all runtimes, as is always done"},
			{Name: "netcore", Aliases: []string{"c"}, Summary: "look at the first .NET Core runtime"},
		},
		Result: report.Result[[]answer.Runtime](), NeedsDump: true, Ask: askRuntimes}
}

func askRuntimes(c *cli.Context) (report.Answer, error) {
	if want, ok := c.Str("id"); ok || c.Bool("netcore") {
		return chooseRuntime(c, want)
	}
	chosen, err := ask.View(c).Instance()
	if err != nil {
		return report.Answer{}, err
	}
	var all []answer.Runtime
	for _, inst := range ask.Dump(c).Runtimes() {
		r := inst.Describe()
		r.Chosen = inst == chosen
		all = append(all, r)
	}
	return report.Say(all, processtext.Runtimes), nil
}

// chooseRuntime makes the session look at another runtime.
func chooseRuntime(c *cli.Context, want string) (report.Answer, error) {
	v, err := ask.Dump(c).View(want)
	if err != nil {
		return report.Answer{}, err
	}
	inst, err := v.Instance()
	if err != nil {
		return report.Answer{}, err
	}
	c.Session.SetRuntime(want)
	r := inst.Describe()
	r.Chosen = true
	return report.Say([]answer.Runtime{r}, processtext.ChosenRuntime), nil
}

func eeVersionCommand() cli.Command {
	return cli.Command{Name: "eeversion", Group: cli.GroupProcess, Summary: "print the version of the runtime and the kind of its GC",
		Result: report.Result[answer.EEVersion](), NeedsDump: true, Ask: askEEVersion}
}

func askEEVersion(c *cli.Context) (report.Answer, error) {
	inst, err := ask.View(c).Instance()
	if err != nil {
		return report.Answer{}, err
	}
	h, err := ask.Heap(c)
	return report.Say(heap.Version(inst, h, err), processtext.EEVersion), nil
}
