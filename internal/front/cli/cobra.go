package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sosgo/sosgo/internal/front/report"
)

// isCobra reports whether an argument is a hidden command used by the completion scripts.
func isCobra(arg string) bool {
	return arg == cobra.ShellCompRequestCmd || arg == cobra.ShellCompNoDescRequestCmd
}

// cobraRoot returns a cobra command that serves shell completion. Commands never pass through it, since cobra's
// option syntax cannot read -stat or -MT. It is built only for completion.
func (a *app) cobraRoot() *cobra.Command {
	return &cobra.Command{
		Use:                "sosgo",
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		SilenceErrors:      true,
		SilenceUsage:       true,
		Run:                func(*cobra.Command, []string) {},
		ValidArgsFunction: func(_ *cobra.Command, before []string, current string) ([]string, cobra.ShellCompDirective) {
			return a.completeShell(before, current)
		},
	}
}

// answerShell answers a completion script.
func (a *app) answerShell(args []string) int {
	root := a.cobraRoot()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(io.Discard) // it repeats the directive in words
	if err := root.Execute(); err != nil {
		return a.fail("", Usagef("%v", err))
	}
	return ExitOK
}

type completionOptions struct {
	Shell string `arg:"shell" choices:"bash|zsh|fish|powershell" help:"which shell"`
}

func (a *app) completionCommand() Command {
	return Print(Command{
		Name: "completion", Group: GroupShell, Summary: "print the completion script for a shell",
		Examples: []Example{
			{"completion bash > /etc/bash_completion.d/sosgo", "for all users"},
			{"completion zsh > ~/.zfunc/_sosgo", "with ~/.zfunc in fpath"},
		},
	}, func(_ *Context, o *completionOptions, p *report.Page) {
		root := a.cobraRoot()
		switch o.Shell {
		case "bash":
			p.Fail(root.GenBashCompletionV2(p, true))
		case "zsh":
			p.Fail(root.GenZshCompletion(p))
		case "fish":
			p.Fail(root.GenFishCompletion(p, true))
		default:
			p.Fail(root.GenPowerShellCompletionWithDesc(p))
		}
	})
}

// completeShell completes a word of sosgo's own command line.
func (a *app) completeShell(before []string, current string) ([]string, cobra.ShellCompDirective) {
	found, files := a.complete(literalWords(before), current, bindTo(new(globals)))
	if files {
		return nil, cobra.ShellCompDirectiveDefault
	}
	out := make([]string, len(found))
	for i, f := range found {
		out[i] = f.text
		if f.about != "" {
			out[i] += "\t" + strings.ReplaceAll(f.about, "\t", " ")
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
