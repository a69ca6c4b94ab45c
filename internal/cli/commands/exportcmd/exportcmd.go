// Package exportcmd has the commands that write what the library says for other tools, and the one line that sums a dump
// up for those who have many: each turns its options into a question and names the encoder of the answer.
package exportcmd

import "github.com/sosgo/sosgo/internal/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupExport, exportCommand(), summarizeCommand())
}
