package commands

import "github.com/sosgo/sosgo/internal/cli"

func memoryCommands() []cli.Command { return nil }
