package commands

import "github.com/sosgo/sosgo/internal/cli"

func heapCommands() []cli.Command { return nil }
