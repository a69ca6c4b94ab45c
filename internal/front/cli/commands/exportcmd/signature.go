package exportcmd

import (
	"fmt"
	"os"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/export/fleet"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/exporttext"
)

type signatureAction string

// Choices lists the actions.
func (signatureAction) Choices() []string { return []string{"rules", "test"} }

type signatureOptions struct {
	Against ask.RulesFile   `opt:"against" kind:"file" value:"FILE" help:"test: compare with these rules, and not with the default"`
	Action  signatureAction `arg:"action" help:"what to do"`
	Rules   ask.RulesFile   `arg:"rules,optional" kind:"file" help:"test: the rules"`
	Fleet   string          `arg:"fleet,optional" kind:"file" help:"test: the fleet"`
}

func signatureCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "signature", NoDump: true,
		Summary: "print the rules for signatures, or try changed ones over a fleet",
		Help: "\"signature rules\" prints the default rules. A changed copy is tried by \"signature test RULES FLEET\": it signs all crashes and " +
			"findings of a fleet of Parquet tables anew, and shows which signatures would merge and which would split. The option -rules of triage, " +
			"summarize, export and fleet uses the copy (docs/fleet.md).",
		Examples: []cli.Example{
			{Line: "signature rules", Text: "the default rules"},
			{Line: "signature test my.rules fleet", Text: "what my.rules would change"},
		},
	}, func(c *cli.Context, o *signatureOptions) (*answer.RulesTrial, error) {
		if o.Action == "rules" {
			if o.Rules != "" {
				return nil, c.Usagef("\"signature rules\" takes no file")
			}
			return &answer.RulesTrial{Text: signature.DefaultRules, Merged: []answer.RulesChange{}, Split: []answer.RulesChange{}}, nil
		}
		if o.Rules == "" || o.Fleet == "" {
			return nil, c.Usagef("signature test RULES FLEET")
		}
		if info, err := os.Stat(o.Fleet); err != nil || !info.IsDir() {
			return nil, &cli.OpenError{Path: o.Fleet, Err: fmt.Errorf("there is no fleet: %w", os.ErrNotExist)}
		}
		before, err := o.Against.Read()
		if err != nil {
			return nil, err
		}
		after, err := o.Rules.Read()
		if err != nil {
			return nil, err
		}
		f, err := fleet.Open(o.Fleet)
		if err != nil {
			return nil, err
		}
		return f.TryRules(c.Context(), before, after)
	}, exporttext.RulesTrial)
}
