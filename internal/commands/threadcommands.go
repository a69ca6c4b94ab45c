package commands

import "github.com/sosgo/sosgo/internal/cli"

func threadCommands() []cli.Command { return nil }
