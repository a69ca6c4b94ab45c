// Package objectcmd has the commands about objects and the heap: each turns its
// options into a question to the library and names the renderer of the answer.
package objectcmd

import "github.com/sosgo/sosgo/internal/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupObjects,
		analyzeOOMCommand(),
		dumpExceptionsCommand(),
		dumpGenCommand(),
		dumpHeapCommand(),
		eeheapCommand(),
		finalizeQueueCommand(),
		gcHandlesCommand(),
		gcHeapStatCommand(),
		dumpObjCommand(),
		dumpVCCommand(),
		dumpArrayCommand(),
		dumpObjGCRefsCommand(),
		dumpDelegateCommand(),
		itemsCommand(),
		dumpDictionaryCommand(),
		dumpConcurrentDictionaryCommand(),
		dumpConcurrentQueueCommand(),
		dumpStringCommand(),
		gcWhereCommand(),
		listNearObjCommand(),
		notReachableCommand(),
		objSizeCommand(),
		sizeStatsCommand(),
		traverseHeapCommand(),
		verifyHeapCommand(),
		verifyObjCommand(),
	)
}
