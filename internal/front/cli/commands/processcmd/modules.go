package processcmd

import (
	"iter"
	"regexp"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/app/modules"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// A nameFilter selects names by a regular expression. It is nil if none was given.
type nameFilter func(string) bool

// UnmarshalText parses a case-insensitive regular expression.
func (f *nameFilter) UnmarshalText(text []byte) error {
	re, err := regexp.Compile("(?i)" + string(text))
	if err == nil {
		*f = re.MatchString
	}
	return err
}

// Placeholder describes a filter in help.
func (nameFilter) Placeholder() string { return "REGEX" }

type imageOptions struct {
	Name    nameFilter `opt:"name,n" help:"only images whose file name, without folder, matches"`
	Verbose bool       `opt:"verbose,v" help:"print all details of each"`
	image.ListOptions
}

func modulesCommand() cli.Command {
	return cli.AskWith(cli.Command{Name: "modules", Aliases: []string{"lm"}, Summary: "list the images that the process had mapped"},
		func(c *cli.Context, o *imageOptions) (*answer.Images, error) {
			o.Match = o.Name
			return modules.Images(ask.Context(c), ask.View(c), o.ListOptions)
		}, func(p *report.Page, a *answer.Images, o *imageOptions) {
			processtext.Images(p, a, processtext.ImagesOptions{Verbose: o.Verbose, Sections: o.Sections, Total: o.At == nil})
		})
}

type saveOptions struct {
	Address target.Addr `arg:"address" help:"base of the image, or any address in it"`
	File    string      `arg:"file" kind:"file" help:"to write"`
}

func saveModuleCommand() cli.Command {
	return cli.Ask(cli.Command{Name: "savemodule", Summary: "rebuild the file of an image from memory",
		Help: "The loader's changes stay in it. Parts that the dump lacks are zeros, and are reported. A file that is there already is not overwritten.",
	}, func(c *cli.Context, o *saveOptions) (*answer.SavedImage, error) {
		if err := c.MayWrite(); err != nil {
			return nil, err
		}
		d := ask.Dump(c)
		return image.SaveFile(c.Context(), d.Target(), d.Memory(), o.Address, o.File)
	}, processtext.SavedImage)
}

type assemblyOptions struct {
	Name    nameFilter `opt:"name,n" help:"only modules whose file name, without folder, matches"`
	Verbose bool       `opt:"verbose,v" help:"print all details of each"`
}

func assembliesCommand() cli.Command {
	return cli.AskWith(cli.Command{Name: "assemblies", Aliases: []string{"clrmodules"}, Summary: "list the managed modules"},
		func(c *cli.Context, o *assemblyOptions) (iter.Seq2[*answer.LoadedModule, error], error) {
			return modules.Assemblies(ask.Context(c), ask.View(c), o.Name)
		}, func(p *report.Page, list iter.Seq2[*answer.LoadedModule, error], o *assemblyOptions) {
			processtext.Assemblies(p, list, o.Verbose)
		})
}
