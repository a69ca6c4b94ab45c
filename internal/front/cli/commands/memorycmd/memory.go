package memorycmd

import (
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/report"
)

func memoryCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "memory", OnlyAsks: true,
		Summary: "show what the memory of the process is for, kind by kind",
		Help: "Each byte of each mapping has one kind: the GC heap by generation, the collector's tables, loader heaps, compiled code, images, files, stacks, " +
			"malloc, and the rest. \"Known by\" says what shows the kind: the structures of the runtime or of malloc, headers of images, registers of threads, or " +
			"the list of mappings alone. The sums are those of the list of mappings. A dump that lists only what it holds lacks other memory of the process.\n\n" +
			"Memory without access is reserved, and takes none. In use and free are bytes of objects and free blocks, of blocks of malloc, and of stacks above " +
			"their stack pointers. Of native allocators, glibc's malloc is read. A block whose first word points into an image is often an object of C++ of " +
			"that library.",
		Examples: []cli.Example{
			{Line: "memory", Text: "where did the memory go?"},
			{Line: "memory -malloc", Text: "who allocated native memory?"},
		},
	}, ask.With(memorymap.Memory), report.Card)
}
