package processcmd

import (
	"regexp"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/report"
)

func modulesCommand() cli.Command {
	return cli.Command{Name: "modules", Aliases: []string{"lm"}, Group: cli.GroupProcess, Summary: "list the images that the process had mapped",
		Options: []cli.Option{
			{Name: "name", Aliases: []string{"n"}, Kind: cli.Str, Value: "REGEX", Summary: "only images whose file name, without folder, matches"},
			{Name: "address", Aliases: []string{"a"}, Kind: cli.Address, Summary: "only the image that holds this address"},
			{Name: "verbose", Aliases: []string{"v"}, Summary: "print all that is known of each"},
			{Name: "segments", Aliases: []string{"s"}, Summary: "print the sections or segments of each"},
		},
		Result: report.Result[answer.Images](), NeedsDump: true, Ask: askModules}
}

func askModules(c *cli.Context) (report.Answer, error) {
	match, err := nameFilter(c)
	if err != nil {
		return report.Answer{}, err
	}
	o := image.ListOptions{Match: match, Sections: c.Bool("segments"), Exports: dac.ExportedSymbols()}
	if at, ok := c.Addr("address"); ok {
		o.At = &at
	}
	d := ask.Dump(c)
	list, err := image.List(c.Context(), d.Target(), d.Memory(), o)
	if err != nil {
		return report.Answer{}, err
	}
	form := processtext.ImagesOptions{Verbose: c.Bool("verbose"), Sections: o.Sections, Total: o.At == nil}
	return report.Say(list, func(p *report.Page, a *answer.Images) { processtext.Images(p, a, form) }), nil
}

// nameFilter chooses names by the regular expression of option name; it is nil
// without it.
func nameFilter(c *cli.Context) (func(string) bool, error) {
	text, ok := c.Str("name")
	if !ok {
		return nil, nil
	}
	re, err := regexp.Compile("(?i)" + text)
	if err != nil {
		return nil, c.Usagef("-name: %v", err)
	}
	return re.MatchString, nil
}

func saveModuleCommand() cli.Command {
	return cli.Command{Name: "savemodule", Group: cli.GroupProcess, Summary: "rebuild the file of an image from memory",
		Help: "The loader's changes stay in it. Parts that the dump lacks are zeros, and are reported. A file that is there already is not overwritten.",
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "base of the image, or any address in it"},
			{Name: "file", Kind: cli.File, Summary: "to write"}},
		Result: report.Result[answer.SavedImage](), NeedsDump: true, Ask: askSaveModule}
}

func askSaveModule(c *cli.Context) (report.Answer, error) {
	a, _ := c.Addr("address")
	name, _ := c.Str("file")
	d := ask.Dump(c)
	saved, err := image.SaveFile(c.Context(), d.Target(), d.Memory(), a, name)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(saved, processtext.SavedImage), nil
}
