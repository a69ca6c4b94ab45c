package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// isCobra reports whether an argument is for cobra, which sosgo uses for the
// completion of its command line in shells: the scripts, and the hidden
// commands that the scripts call. Cobra's own option syntax can't read
// -stat or -MT, so commands themselves never pass through it, and its tree
// is only built here.
func isCobra(arg string) bool {
	return arg == "completion" || arg == cobra.ShellCompRequestCmd || arg == cobra.ShellCompNoDescRequestCmd
}

// cobra runs the completion command that args name.
func (a *app) cobra(args []string) int {
	root := &cobra.Command{
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
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	if err := root.Execute(); err != nil {
		return a.fail("completion", Usagef("%v", err))
	}
	return ExitOK
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
