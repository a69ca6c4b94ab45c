package commands

import (
	"errors"
	"fmt"
	"os"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func saveModuleCommand() cli.Command {
	return cli.Command{Name: "savemodule", Group: cli.GroupProcess, Summary: "rebuild the file of an image from memory",
		Help: "The loader's changes stay in it. Parts that the dump lacks are zeros, and are reported. A file that is there already is not overwritten.",
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "base of the image, or any address in it"},
			{Name: "file", Kind: cli.File, Summary: "to write"}},
		Result: []report.Part{report.Whole[savedModule]()}, NeedsDump: true, Run: runSaveModule}
}

// savedModule is the JSON result of savemodule.
type savedModule struct {
	Path    string `json:"path" doc:"of the image, as the dump records it"`
	File    string `json:"file" doc:"that was written"`
	Size    uint64 `json:"size" doc:"bytes of the file"`
	Missing uint64 `json:"missing" doc:"bytes that neither the dump nor a module file has; they are zeros"`
}

func runSaveModule(c *cli.Context) error {
	a, _ := c.Addr("address")
	name, _ := c.Str("file")
	d := dumpOf(c)
	for _, m := range d.Modules() {
		if m.Base == a || m.Contains(a) {
			return saveModule(c, d, &m, name)
		}
	}
	return fmt.Errorf("%016x is in no image: %w", uint64(a), target.ErrNotInDump)
}

func saveModule(c *cli.Context, d *sosgo.Dump, m *sosgo.NativeModule, name string) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	saved, err := d.SaveImage(c.Context(), f, m)
	if err == nil {
		err = f.Truncate(int64(saved.Size))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if saved.Missing > 0 {
		c.Warn(fmt.Errorf("%d bytes of %s are zeros in the file: %w", saved.Missing, m.Path, target.ErrNotInDump))
	}
	if c.JSON() != nil {
		return c.JSON().Value(savedModule{m.Path, name, saved.Size, saved.Missing})
	}
	c.Printf("%s: %d bytes written to %s\n", report.Escape(m.Path), saved.Size, report.Escape(name))
	return nil
}
