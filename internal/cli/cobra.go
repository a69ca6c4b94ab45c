package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sosgo/sosgo/internal/report"
)

// isCobra reports whether an argument is a hidden command that the completion
// scripts call.
func isCobra(arg string) bool {
	return arg == cobra.ShellCompRequestCmd || arg == cobra.ShellCompNoDescRequestCmd
}

// cobraRoot is sosgo as cobra sees it, which serves the completion of the
// command line in shells. Cobra's own option syntax can't read -stat or -MT,
// so commands never pass through it, and the tree is built only when wanted.
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

func (a *app) completionCommand() Command {
	return Command{
		Name: "completion", Group: GroupShell, Summary: "print the completion script for a shell",
		Args: []Arg{{Name: "shell", Kind: Str, Choices: []string{"bash", "zsh", "fish", "powershell"}, Summary: "which shell"}},
		Examples: []Example{
			{"completion bash > /etc/bash_completion.d/sosgo", "for all users"},
			{"completion zsh > ~/.zfunc/_sosgo", "with ~/.zfunc in fpath"},
		},
		Ask: a.askCompletion,
	}
}

func (a *app) askCompletion(c *Context) (report.Answer, error) {
	root := a.cobraRoot()
	write := root.GenPowerShellCompletionWithDesc
	switch shell, _ := c.Str("shell"); shell {
	case "bash":
		write = func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }
	case "zsh":
		write = root.GenZshCompletion
	case "fish":
		write = func(w io.Writer) error { return root.GenFishCompletion(w, true) }
	}
	return report.SayText(func(p *report.Page) { p.Fail(write(p)) }), nil
}

// completeShell completes a word of sosgo's own command line.
func (a *app) completeShell(before []string, current string) ([]string, cobra.ShellCompDirective) {
	found, files := a.complete(literalWords(before), current, globalOptions())
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
