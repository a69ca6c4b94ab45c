package dap

import (
	"context"
	"fmt"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/app/modules"
	"github.com/sosgo/sosgo/target"
)

func (s *session) modules(ctx context.Context, a *dap.ModulesArguments) (any, error) {
	list, err := modules.Images(ctx, s.view, image.ListOptions{})
	if err != nil {
		return nil, err
	}
	body := dap.ModulesResponseBody{Modules: []dap.Module{}, TotalModules: len(list.List)}
	n := 0
	for im, err := range list.Images {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && im.Path == "" && im.Size == 0 {
			continue // already listed by the previous row
		}
		if n++; n <= a.StartModule {
			continue
		}
		body.Modules = append(body.Modules, module(&im, err))
		if len(body.Modules) == a.ModuleCount {
			break
		}
	}
	return body, nil
}

func module(im *answer.Image, err error) dap.Module {
	m := dap.Module{Id: target.BaseName(im.Path), Name: target.BaseName(im.Path), Path: im.Path,
		AddressRange: fmt.Sprintf("%#x-%#x", uint64(im.Address), uint64(im.Address)+im.Size), Version: im.Version.String()}
	switch {
	case err != nil:
		m.SymbolStatus = words(err)
	case im.Headless:
		m.SymbolStatus = "the image's headers are neither in the dump nor in a file"
	case im.PDB != nil:
		m.SymbolFilePath = im.PDB.Path
	}
	return m
}
