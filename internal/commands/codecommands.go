package commands

import "github.com/sosgo/sosgo/internal/cli"

func codeCommands() []cli.Command { return nil }
