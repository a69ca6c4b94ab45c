package memorycmd

import (
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/memorytext"
)

func gcCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "gc",
		Summary: "describe the garbage collector: settings, what it was doing, what it counted, sizes, and what each thread allocated",
		Help: "Settings are those that the environment and runtimeconfig.json have; numbers in the environment are hexadecimal. The counters of mechanisms are the " +
			"collector's own, and those of a server GC are not published. Figures of single collections (pauses, sizes before and after) exist where the program " +
			"or a library called GC.GetGCMemoryInfo, as ArrayPool does. What can't be answered is listed with the reason.",
		Examples: []cli.Example{{Line: "gc", Text: "which collector runs, with which limits, and was it collecting?"}},
	}, ask.Plain(memory.GC), memorytext.GC)
}
