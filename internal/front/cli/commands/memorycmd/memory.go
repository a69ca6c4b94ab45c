package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/memorymap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/memorytext"
)

type memoryOptions struct {
	List   bool `opt:"list" help:"all ranges by address, too"`
	Malloc bool `opt:"malloc" help:"the arenas of malloc, its blocks by size, and what their first words point to, too"`
	Top    int  `opt:"top" range:"0:" default:"20" help:"rows of -malloc at most, 0 for all"`
}

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
	}, askMemory, memorytext.MemoryMap)
}

func askMemory(c *cli.Context, o *memoryOptions) (*answer.MemoryMap, error) {
	return memorymap.Memory(ask.Context(c), ask.View(c), memorymap.Options{List: o.List, Malloc: o.Malloc, Top: o.Top})
}
